import { AppError, fieldError } from '../api/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import { dalasi, formatAmount, least } from '../kit/money.ts';
import type { Account } from '../ledger/accounts.ts';
import type { Part } from '../ledger/posting.ts';
import { netDebt } from '../ledger/debt.ts';
import { lockBalance } from '../ledger/post.ts';
import { transferFee } from '../merchants/fees.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { PayoutConnector } from '../networks/contract.ts';
import { ofNetwork, pausedRefusal } from '../networks/registry.ts';
import { settledAccount } from '../sub-accounts/ledger-accounts.ts';
import { bookFeeOwed } from '../transfers/booking.ts';
import type { TransferContext } from '../transfers/context.ts';
import { acceptTransfer, checkAmountStep, newTransfer } from '../transfers/create-transfer.ts';
import type { Transfer } from '../transfers/transfer.ts';
import type { Beneficiary } from './queries.ts';
import { repayFromSettled } from './repay-debts.ts';

/** The settled balance from which a sub-account can be paid out, in bututs (docs/sub-accounts.md, "Payouts"). */
export const payoutMinimumMinor = 10n * dalasi;

const destinationHoldMs = 24 * 3_600_000;

/** The merchant's money for the fees of payouts. */
export interface FeeMoney {
  /** The merchant's payout balance, in bututs; 0 where no payout costs a fee. */
  availableMinor: bigint;
  /** While the merchant owes, fees are added to its debt: a sub-account's balance is its own, and is paid all the same. */
  isOwed: boolean;
}

/**
 * Locks the accounts that payouts of these sub-accounts spend from, the merchant's for fees and `accounts`, after sub-accounts
 * in debt have repaid what they can. Without fees, payouts of one merchant do not wait for each other.
 */
export async function lockPayoutMoney(
  tx: Transaction,
  context: TransferContext,
  merchant: Merchant,
  query: { subAccountIds: readonly string[]; accounts: readonly Account[]; hasFees: boolean },
): Promise<{ feeMoney: FeeMoney; balances: ReadonlyMap<Account, bigint> }> {
  const { id: merchantId, currency } = merchant;
  const feeMoney: FeeMoney = { availableMinor: 0n, isOwed: false };
  const lockMerchant = async (): Promise<void> => {
    if (!query.hasFees) return;
    const debt = await netDebt(tx, context, { merchantId, currency, at: context.clock.now() });
    feeMoney.availableMinor = debt.availableMinor;
    feeMoney.isOwed = debt.owedMinor > 0n;
  };
  const balances = await repayFromSettled(tx, context, merchant, { ...query, lockMerchant });
  return { feeMoney, balances };
}

/** Adds the fees of accepted payouts to the merchant's debt, where it has one; before their money is held. */
export async function oweFees(
  tx: Transaction,
  context: TransferContext,
  { id: merchantId, currency }: Merchant,
  payouts: readonly Transfer[],
  { isOwed }: FeeMoney,
): Promise<void> {
  if (!isOwed) return;
  for (const payout of payouts) await bookFeeOwed(tx, context, payout);
  // Folded once, because the holds' statements are sent together: the first would fold what the others need.
  await lockBalance(tx, { merchantId, currency, account: 'payable_available' });
}

/** What a payout is paid from, in bututs. */
export interface PayoutMoney {
  /** The sub-account's settled balance. */
  settledMinor: bigint;
  /** What it still owes, which is not paid out. */
  owedMinor: bigint;
  feeMoney: FeeMoney;
}

/**
 * The payout of a sub-account's settled balance, or of `amountMinor` bututs of it. A paused sub-account can be paid out too:
 * its balance is its own.
 *
 * Throws AppError `state_conflict` while a changed destination is held, `balance_below_minimum`, `insufficient_balance`,
 * `amount_out_of_bounds` and `network_not_available`.
 */
export function planPayout(
  context: TransferContext,
  merchant: Merchant,
  beneficiary: Beneficiary,
  money: PayoutMoney & { amountMinor: bigint | null },
): Transfer {
  const { owedMinor, feeMoney, amountMinor: requestedMinor } = money;
  const { settlementCode: network } = beneficiary;
  refuseHeldDestination(context, merchant, beneficiary);
  const settledMinor = money.settledMinor > owedMinor ? money.settledMinor - owedMinor : 0n;
  if (settledMinor < payoutMinimumMinor) {
    const [has, needed] = [formatAmount(settledMinor), formatAmount(payoutMinimumMinor)];
    const owes = owedMinor > 0n ? ` It owes you ${formatAmount(owedMinor)}, which its next money repays first.` : '';
    const wait = 'Wait for more payments that name the sub-account, or until pending ones are settled.';
    const stop = 'To stop using it instead, set its active to false: it keeps its balance.';
    const message = `The settled balance is ${has}, and a payout needs at least ${needed}.${owes} ${wait} ${stop}`;
    throw new AppError('balance_below_minimum', message);
  }
  const connector = ofNetwork(context.networks.payingOut(merchant), network);
  if (!connector) {
    const paused = pausedRefusal(context.networks, merchant, { network });
    if (paused) throw paused;
    const message = `${network} cannot pay out. Change the sub-account’s settlement_code.`;
    throw new AppError('network_not_available', message);
  }
  const amountMinor = readAmount(context, connector, { settledMinor, requestedMinor });
  const feeMinor = transferFee(merchant, network, amountMinor);
  if (!feeMoney.isOwed && feeMinor > feeMoney.availableMinor) {
    const balance = formatAmount(feeMoney.availableMinor);
    const message = `You pay the fee of ${formatAmount(feeMinor)}, and your payout balance is ${balance}. Collect more first.`;
    throw new AppError('insufficient_balance', message);
  }
  return newTransfer(context, merchant, {
    kind: 'sub_account_payout',
    amountMinor,
    feeMinor,
    network,
    railAccount: connector.capabilities.railAccount,
    accountNumber: beneficiary.accountNumber,
    accountCanonical: beneficiary.accountCanonical,
    beneficiaryName: beneficiary.name,
    narration: null,
    callbackUrl: null,
    metadata: {},
    subAccountId: beneficiary.id,
  });
}

/**
 * Until when live payouts of a sub-account wait because its destination was changed; null: they do not. Whoever got hold of a
 * key or a login and redirects the money can be found out within the day: the audit log and the sub-account’s page show the
 * change, and all owners get a mail of one that was made in the dashboard.
 */
export function heldUntil(
  { testMode }: Pick<Merchant, 'testMode'>,
  { destinationChangedAt }: Pick<Beneficiary, 'destinationChangedAt'>,
  now: Date,
): Date | null {
  if (testMode || destinationChangedAt === null) return null;
  const until = new Date(destinationChangedAt.getTime() + destinationHoldMs);
  return until > now ? until : null;
}

function refuseHeldDestination({ clock }: TransferContext, merchant: Merchant, beneficiary: Beneficiary): void {
  const until = heldUntil(merchant, beneficiary, clock.now());
  if (until === null) return;
  const message = `The destination was changed, and live payouts wait a day after that. Pay it out after ${until.toISOString()}.`;
  throw new AppError('state_conflict', message);
}

/** Stores a payout and holds its money: the amount from the sub-account, which arrives in full, and the fee from the merchant. */
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

/** Whether a payout by this network can cost a fee: if any does, the largest does. */
export function hasFee({ settings }: Pick<TransferContext, 'settings'>, merchant: Merchant, network: string): boolean {
  return transferFee(merchant, network, settings.amountMaxMinor) > 0n;
}

function readAmount(
  { settings }: TransferContext,
  connector: PayoutConnector,
  { settledMinor, requestedMinor }: { settledMinor: bigint; requestedMinor: bigint | null },
): bigint {
  const { amountStepMinor } = connector.payouts.capabilities;
  const { amountMaxMinor } = settings;
  if (requestedMinor === null) {
    const amountMinor = least(settledMinor, amountMaxMinor);
    return amountMinor - (amountMinor % amountStepMinor);
  }
  if (requestedMinor < dalasi || requestedMinor > amountMaxMinor) {
    const message = `The amount must be from ${formatAmount(dalasi)} to the settled balance, at most ${formatAmount(amountMaxMinor)}.`;
    throw fieldError('amount_out_of_bounds', 'amount', message);
  }
  checkAmountStep(connector, requestedMinor);
  if (requestedMinor > settledMinor) {
    const message = `The settled balance is ${formatAmount(settledMinor)}. Request at most that.`;
    throw fieldError('insufficient_balance', 'amount', message);
  }
  return requestedMinor;
}
