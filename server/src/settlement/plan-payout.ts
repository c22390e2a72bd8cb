import { AppError, fieldError } from '../kit/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import { dalasi, formatAmount } from '../kit/money.ts';
import type { Part } from '../ledger/posting.ts';
import { netDebt } from '../ledger/debt.ts';
import { lockBalance } from '../ledger/post.ts';
import { transferFee } from '../merchants/fees.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { settledAccount } from '../sub-accounts/ledger-accounts.ts';
import { bookFeeOwed } from '../transfers/booking.ts';
import type { TransferContext } from '../transfers/context.ts';
import { acceptTransfer, checkAmountStep, newTransfer } from '../transfers/create-transfer.ts';
import { paysOut } from '../transfers/rail.ts';
import type { Transfer } from '../transfers/transfer.ts';
import type { Beneficiary } from './queries.ts';

/** What a sub-account has to have before it can be paid out, in bututs (docs/sub-accounts.md, "Paying out"). */
export const payoutMinimumMinor = 10n * dalasi;

/** What pays the fees of payouts. */
export interface FeeMoney {
  /** What the merchant can spend on them, in bututs; only known where there may be one. */
  availableMinor: bigint;
  /** While the merchant owes, fees are added to its debt: what a sub-account has is its own, and is paid all the same. */
  isOwed: boolean;
}

/** Where no payout costs anything, payouts of one merchant do not wait for each other. */
export const noFeeMoney: FeeMoney = { availableMinor: 0n, isOwed: false };

/** Locks what pays the fees. Before the sub-accounts' own accounts, as everybody does: the names are in this order. */
export async function lockFeeMoney(
  tx: Transaction,
  { clock, newId }: TransferContext,
  { id: merchantId, currency }: Merchant,
): Promise<FeeMoney> {
  const { availableMinor, owedMinor } = await netDebt(tx, { newId }, { merchantId, currency, at: clock.now() });
  return { availableMinor, isOwed: owedMinor > 0n };
}

/** Adds the fees of payouts that are about to be held to what the merchant owes, where it owes. */
export async function oweFees(
  tx: Transaction,
  context: TransferContext,
  { id: merchantId, currency }: Merchant,
  payouts: readonly Transfer[],
  { isOwed }: FeeMoney,
): Promise<void> {
  if (!isOwed) return;
  for (const payout of payouts) await bookFeeOwed(tx, context, payout);
  // Folded once: of holds whose statements travel together the first would fold what the others need.
  await lockBalance(tx, { merchantId, currency, account: 'payable_available' });
}

/** What a payout can be taken from, in bututs. */
export interface PayoutMoney {
  /** What the sub-account has and can be paid. */
  settledMinor: bigint;
  /** What it owes still, which is not paid out. */
  owedMinor: bigint;
  feeMoney: FeeMoney;
}

/**
 * The payout of a sub-account's settled balance, or of `amountMinor` bututs of it. Whether it is paused does not matter:
 * what it has is its own.
 *
 * Throws AppError `balance_below_minimum`, `insufficient_balance`, `amount_out_of_bounds` and `network_not_available`.
 */
export function planPayout(
  context: TransferContext,
  merchant: Merchant,
  beneficiary: Beneficiary,
  money: PayoutMoney & { amountMinor: bigint | null },
): Transfer {
  const { owedMinor, feeMoney, amountMinor: requestedMinor } = money;
  const { settlementCode: network } = beneficiary;
  const settledMinor = money.settledMinor > owedMinor ? money.settledMinor - owedMinor : 0n;
  if (settledMinor < payoutMinimumMinor) {
    const [has, needed] = [formatAmount(settledMinor), formatAmount(payoutMinimumMinor)];
    const owes = owedMinor > 0n ? ` It owes you ${formatAmount(owedMinor)}, which its next money repays first.` : '';
    const message = `The settled balance is ${has}, and a payout needs at least ${needed}.${owes} Wait for more payments.`;
    throw new AppError('balance_below_minimum', message);
  }
  const amountMinor = readAmount(context, merchant, network, { settledMinor, requestedMinor });
  const feeMinor = transferFee(merchant, network, amountMinor);
  if (!feeMoney.isOwed && feeMinor > feeMoney.availableMinor) {
    const fee = `The fee of ${formatAmount(feeMinor)} is the merchant’s`;
    const message = `${fee}, whose payout balance is ${formatAmount(feeMoney.availableMinor)}. Wait until more has been collected.`;
    throw new AppError('insufficient_balance', message);
  }
  return newTransfer(context, merchant, {
    kind: 'sub_account_payout',
    amountMinor,
    feeMinor,
    network,
    accountNumber: beneficiary.accountNumber,
    accountCanonical: beneficiary.accountCanonical,
    beneficiaryName: beneficiary.name,
    narration: null,
    callbackUrl: null,
    metadata: {},
    subAccountId: beneficiary.id,
  });
}

/** Stores a payout and holds its money: the amount from the sub-account, so that it arrives in full, the fee from the merchant. */
export async function acceptPayout(
  tx: Transaction,
  context: TransferContext,
  merchant: Merchant,
  payout: Transfer,
): Promise<void> {
  const from: Part[] = [
    { account: settledAccount(payout.subAccountId ?? ''), amountMinor: payout.amountMinor },
    { account: 'payable_available', amountMinor: payout.feeMinor },
  ];
  await acceptTransfer(tx, context, merchant, payout, from);
}

/** Whether a payout by this network may cost a fee: none costs more than the largest. */
export function canCost(context: TransferContext, merchant: Merchant, network: string): boolean {
  return transferFee(merchant, network, context.settings.amountMaxMinor) > 0n;
}

function readAmount(
  { networks, settings }: TransferContext,
  merchant: Merchant,
  network: string,
  { settledMinor, requestedMinor }: { settledMinor: bigint; requestedMinor: bigint | null },
): bigint {
  const connector = networks.find(network, merchant.testMode);
  if (!connector || !paysOut(connector)) {
    const message = `${network} cannot pay out. Give the sub-account another settlement_code.`;
    throw new AppError('network_not_available', message);
  }
  const { amountStepMinor } = connector.payouts.capabilities;
  const { amountMaxMinor } = settings;
  if (requestedMinor === null) {
    const amountMinor = settledMinor < amountMaxMinor ? settledMinor : amountMaxMinor;
    return amountMinor - (amountMinor % amountStepMinor);
  }
  if (requestedMinor < dalasi || requestedMinor > amountMaxMinor) {
    const message = `The amount must be from ${formatAmount(dalasi)} to the settled balance, at most ${formatAmount(amountMaxMinor)}.`;
    throw fieldError('amount_out_of_bounds', 'amount', message);
  }
  checkAmountStep(connector, requestedMinor);
  if (requestedMinor > settledMinor) {
    const message = `The settled balance is ${formatAmount(settledMinor)}. Ask for at most that.`;
    throw fieldError('insufficient_balance', 'amount', message);
  }
  return requestedMinor;
}
