import type { Transaction } from '../kit/db.ts';
import { hold, releaseHold, settleHold } from '../ledger/hold.ts';
import type { Part } from '../ledger/hold.ts';
import { lockBalances, post } from '../ledger/post.ts';
import type { Movement } from '../ledger/post.ts';
import type { PayoutReceipt } from '../networks/contract.ts';
import type { TransferContext } from './context.ts';
import { ownAccount } from './transfer-kinds.ts';
import { totalMinor } from './transfer.ts';
import type { Transfer } from './transfer.ts';

// Every entry a transfer makes (docs/architecture.md, "Money"). What was booked is never changed: what turns out
// otherwise is another entry.

/** Money that left a network's account for a transfer. */
export interface Payout {
  railAccount: string;
  receipt: PayoutReceipt;
}

/** Money that a network has given back. */
export interface MoneyBack {
  railAccount: string;
  amountMinor: bigint;
}

/** Sets amount and fee aside. Throws AppError `insufficient_balance`. */
export async function bookHeld(
  tx: Transaction,
  context: TransferContext,
  transfer: Transfer,
  from: readonly Part[],
): Promise<void> {
  await hold(tx, context, sourceOf(context, transfer), from);
}

/** The beneficiary has the amount, the operator the fee. */
export async function bookCompleted(
  tx: Transaction,
  context: TransferContext,
  transfer: Transfer,
  payout: Payout,
): Promise<void> {
  await settleHold(tx, context, sourceOf(context, transfer), {
    flow: 'transfer',
    to: [
      { account: `float:${payout.railAccount}`, amountMinor: transfer.amountMinor },
      { account: 'fees', amountMinor: transfer.feeMinor },
    ],
  });
  await bookNetworkCosts(tx, context, transfer, payout);
}

/** Nothing was paid: amount and fee are back where they came from. */
export async function bookReleased(tx: Transaction, context: TransferContext, transfer: Transfer): Promise<void> {
  await releaseHold(tx, context, sourceOf(context, transfer));
}

/**
 * The network paid another amount. What left its account is booked; what of the held money did not, and the fee, stand
 * in `suspense` until a person has decided. What it paid too much is the operator's until then.
 */
export async function bookMismatch(
  tx: Transaction,
  context: TransferContext,
  transfer: Transfer,
  payout: Payout,
): Promise<void> {
  const float = `float:${payout.railAccount}` as const;
  const paid = payout.receipt.amountMinor;
  const fromHeld = paid < transfer.amountMinor ? paid : transfer.amountMinor;
  const to: Part[] = [
    { account: float, amountMinor: fromHeld },
    { account: 'suspense', amountMinor: totalMinor(transfer) - fromHeld },
  ];
  await settleHold(tx, context, sourceOf(context, transfer), { flow: 'transfer_mismatch', to });
  const overpaid = paid - fromHeld;
  await post(tx, context, {
    ...sourceOf(context, transfer),
    flow: 'transfer_mismatch',
    movements: [{ debit: 'network_costs', credit: float, amountMinor: overpaid }],
  });
  await bookNetworkCosts(tx, context, transfer, payout);
}

/**
 * Money went out for a transfer that had ended without it. The merchant's balance gives what it has, and owes the rest.
 */
export async function bookLateSuccess(
  tx: Transaction,
  context: TransferContext,
  transfer: Transfer,
  payout: Payout,
): Promise<{ shortfallMinor: bigint }> {
  const { merchantId, currency } = transfer;
  const float = `float:${payout.railAccount}` as const;
  const paid = payout.receipt.amountMinor;
  // A sub-account's own money first, then the merchant's, who answers for it.
  const accounts = [...new Set([ownAccount(transfer), 'payable_available'] as const)];
  const balances = await lockBalances(tx, { merchantId, currency }, accounts);
  let missing = paid;
  const movements: Movement[] = [];
  for (const account of accounts) {
    const available = balances.get(account) ?? 0n;
    const taken = available < missing ? available : missing;
    movements.push({ debit: account, credit: float, amountMinor: taken });
    missing -= taken;
  }
  movements.push({ debit: 'receivable_merchant', credit: float, amountMinor: missing });
  await post(tx, context, { ...sourceOf(context, transfer), flow: 'late_success', movements });
  await bookNetworkCosts(tx, context, transfer, payout);
  return { shortfallMinor: missing };
}

/** Money went out a second time. The merchant ordered it once, so it is the operator's loss until it is recovered. */
export async function bookPaidTwice(
  tx: Transaction,
  context: TransferContext,
  transfer: Transfer,
  payout: Payout,
): Promise<void> {
  await post(tx, context, {
    ...sourceOf(context, transfer),
    flow: 'paid_twice',
    movements: [
      { debit: 'network_costs', credit: `float:${payout.railAccount}`, amountMinor: payout.receipt.amountMinor },
    ],
  });
  await bookNetworkCosts(tx, context, transfer, payout);
}

/** The network gave a completed transfer's money back: so do we, with the fee. */
export async function bookReversed(
  tx: Transaction,
  context: TransferContext,
  transfer: Transfer,
  railAccount: string,
): Promise<void> {
  const { merchantId, currency, feeMinor } = transfer;
  const balances = await lockBalances(tx, { merchantId, currency }, ['fees']);
  const fees = balances.get('fees') ?? 0n;
  // The operator may have drawn the fees meanwhile; then the rest is a cost.
  const fromFees = fees < feeMinor ? fees : feeMinor;
  await post(tx, context, {
    ...sourceOf(context, transfer),
    flow: 'transfer_reversed',
    movements: [
      { debit: `float:${railAccount}`, credit: ownAccount(transfer), amountMinor: transfer.amountMinor },
      { debit: 'fees', credit: 'payable_available', amountMinor: fromFees },
      { debit: 'network_costs', credit: 'payable_available', amountMinor: feeMinor - fromFees },
    ],
  });
}

/** Money that had gone out late came back: the merchant's debt is repaid first, the rest is the merchant's again. */
export async function bookLateSuccessReversed(
  tx: Transaction,
  context: TransferContext,
  transfer: Transfer,
  { railAccount, amountMinor: back }: MoneyBack,
): Promise<void> {
  const { merchantId, currency } = transfer;
  const float = `float:${railAccount}` as const;
  const balances = await lockBalances(tx, { merchantId, currency }, ['receivable_merchant']);
  const owed = balances.get('receivable_merchant') ?? 0n;
  const repaid = owed < back ? owed : back;
  await post(tx, context, {
    ...sourceOf(context, transfer),
    flow: 'late_success_reversed',
    movements: [
      { debit: float, credit: 'receivable_merchant', amountMinor: repaid },
      { debit: float, credit: ownAccount(transfer), amountMinor: back - repaid },
    ],
  });
}

/** A person took the other amount for the transfer: what was not paid is the merchant's again. */
export async function bookMismatchAccepted(
  tx: Transaction,
  context: TransferContext,
  transfer: Transfer,
  paidMinor: bigint,
): Promise<void> {
  const { amountMinor, feeMinor } = transfer;
  const missing = paidMinor < amountMinor ? amountMinor - paidMinor : 0n;
  await post(tx, context, {
    ...sourceOf(context, transfer),
    flow: 'mismatch_accepted',
    movements: [
      { debit: 'suspense', credit: ownAccount(transfer), amountMinor: missing },
      { debit: 'suspense', credit: 'fees', amountMinor: feeMinor },
    ],
  });
}

/** The network took the other amount back: everything is as if it had never paid. */
export async function bookMismatchReturned(
  tx: Transaction,
  context: TransferContext,
  transfer: Transfer,
  { railAccount, paidMinor }: { railAccount: string; paidMinor: bigint },
): Promise<void> {
  const float = `float:${railAccount}` as const;
  const fromHeld = paidMinor < transfer.amountMinor ? paidMinor : transfer.amountMinor;
  await post(tx, context, {
    ...sourceOf(context, transfer),
    flow: 'mismatch_returned',
    movements: [
      { debit: float, credit: ownAccount(transfer), amountMinor: fromHeld },
      { debit: 'suspense', credit: ownAccount(transfer), amountMinor: transfer.amountMinor - fromHeld },
      { debit: 'suspense', credit: 'payable_available', amountMinor: transfer.feeMinor },
      { debit: float, credit: 'network_costs', amountMinor: paidMinor - fromHeld },
    ],
  });
}

/** The network gave a second payment back. */
export async function bookPaidTwiceRecovered(
  tx: Transaction,
  context: TransferContext,
  transfer: Transfer,
  { railAccount, amountMinor }: MoneyBack,
): Promise<void> {
  await post(tx, context, {
    ...sourceOf(context, transfer),
    flow: 'paid_twice_recovered',
    movements: [{ debit: `float:${railAccount}`, credit: 'network_costs', amountMinor }],
  });
}

/** What the network took from us on top of the payout. */
async function bookNetworkCosts(
  tx: Transaction,
  context: TransferContext,
  transfer: Transfer,
  { railAccount, receipt }: Payout,
): Promise<void> {
  await post(tx, context, {
    ...sourceOf(context, transfer),
    flow: 'network_fee',
    movements: [{ debit: 'network_costs', credit: `float:${railAccount}`, amountMinor: receipt.networkFeeMinor }],
  });
}

function sourceOf(context: TransferContext, transfer: Transfer) {
  return {
    merchantId: transfer.merchantId,
    currency: transfer.currency,
    source: { type: 'transfer', id: transfer.id },
    at: context.clock.now(),
  };
}
