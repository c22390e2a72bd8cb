import type { Transaction } from '../kit/db.ts';
import type { Account } from '../ledger/accounts.ts';
import { hold, releaseHold, settleHold } from '../ledger/hold.ts';
import type { Part } from '../ledger/hold.ts';
import { debtAccount, feeAdvance } from '../ledger/debt.ts';
import { lockBalances, post } from '../ledger/post.ts';
import type { Movement } from '../ledger/post.ts';
import { bookedBy, movementsBetween } from '../ledger/undo.ts';
import type { PayoutReceipt } from '../networks/contract.ts';
import { debtAccounts, isRepayment, repayments } from '../sub-accounts/debts.ts';
import { lockDeleted } from '../sub-accounts/delete-sub-account.ts';
import { owedAccount } from '../sub-accounts/ledger-accounts.ts';
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

/** The merchant owes the fee of a payout that is not its own; before the hold, which takes it from the balance. */
export async function bookFeeOwed(tx: Transaction, context: TransferContext, transfer: Transfer): Promise<void> {
  const movements = [feeAdvance(transfer.feeMinor)];
  await post(tx, context, { ...sourceOf(context, transfer), flow: 'fee_owed', movements });
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

/**
 * Nothing was paid: amount and fee are back where they came from. A sub-account that owes repays from what comes back to
 * it; for a refund, whose advances are undone first, refunds/ books that.
 */
export async function bookReleased(tx: Transaction, context: TransferContext, transfer: Transfer): Promise<void> {
  await releaseHold(tx, context, sourceOf(context, transfer), async (back) =>
    transfer.kind === 'refund' ? [] : repayments(await lockWithDebts(tx, transfer), back),
  );
}

/** Locks what the transfer's sub-account owes, together with the other accounts that its booking will lock. */
async function lockWithDebts(
  tx: Transaction,
  transfer: Transfer,
  others: readonly Account[] = [],
): Promise<Map<Account, bigint>> {
  const debts = transfer.subAccountId === null ? [] : await debtAccounts(tx, transfer, [transfer.subAccountId]);
  return lockBalances(tx, transfer, [...others, ...debts]);
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
 * Money went out for a transfer that had ended without it. The merchant's balance gives what it has, and owes the rest. What
 * the merchant gives for a payout the sub-account has got: it owes that to the merchant, unless it was deleted meanwhile.
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
  const deleted = await lockDeleted(tx, merchantId, transfer.subAccountId === null ? [] : [transfer.subAccountId]);
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
  if (transfer.subAccountId !== null && !deleted.has(transfer.subAccountId)) {
    const ownMinor = movements[0]?.amountMinor ?? 0n;
    const owed = owedAccount(transfer.subAccountId);
    const advance = { debit: owed, credit: 'due_from_subs', amountMinor: paid - ownMinor } as const;
    await post(tx, context, { ...sourceOf(context, transfer), flow: 'advanced', movements: [advance] });
  }
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

// What a network takes for its service it does not give back, and a second payment is a matter of its own. What refunds/
// books beside the money that goes out, it undoes itself; an advance for a payout is undone with it.
const notUndone = [
  'network_fee',
  'paid_twice',
  'paid_twice_recovered',
  'advanced',
  'refund_rounding',
  'refund_undone',
  'debt_repaid',
  'debt_reopened',
  'fee_owed',
];

// What a sub-account repaid of money that came back to it stays repaid.
const isUndone = (movement: Movement & { flow: string }): boolean =>
  !notUndone.includes(movement.flow) && !isRepayment(movement);

/** What a network has out for a transfer, in bututs: what it must give back if it gives its payment back. */
export async function paidOut(tx: Transaction, context: TransferContext, transfer: Transfer): Promise<bigint> {
  const { given } = await bookedBy(tx, sourceOf(context, transfer), isUndone);
  return [...given].reduce((sum, [account, minor]) => (account.startsWith('float:') ? sum + minor : sum), 0n);
}

/**
 * The network gave its payment back: everyone gets what the transfer took of them, and no more, from the entries
 * themselves. A sub-account that owes repays from what it gets. What one that was deleted meanwhile would get stands in
 * `suspense`; answers how much.
 */
export async function bookGivenBack(
  tx: Transaction,
  context: TransferContext,
  transfer: Transfer,
  flow: 'transfer_reversed' | 'late_success_reversed',
): Promise<{ strandedMinor: bigint }> {
  const source = sourceOf(context, transfer);
  const { given, taken } = await bookedBy(tx, source, isUndone);
  if (transfer.kind === 'refund') gatherAtMerchant(taken);
  // Before the other accounts: whoever locks a debt locks `due_from_subs` with it, so nobody waits in a circle.
  const owed = await lockWithDebts(tx, transfer);
  const forgiven = await undoAdvance(tx, context, transfer, { owed, taken });
  const stranded = await divertDeleted(tx, transfer, taken);
  const balances = await lockBalances(tx, transfer, [
    ...(given.has('fees') ? (['fees'] as const) : []),
    // Whoever waits for the debt holds payable_available.
    ...(taken.has(debtAccount) ? (['payable_available', debtAccount] as const) : []),
  ]);
  divertRepaid(taken, balances);
  bearDrawnFees(given, balances);
  const back = [...taken].map(([account, amountMinor]) => ({ account, amountMinor }));
  const movements = [...movementsBetween(given, taken), ...repayments(owed, back)];
  await post(tx, context, { ...source, flow, movements: [...forgiven, ...movements] });
  return { strandedMinor: stranded };
}

/**
 * What the merchant gave in the place of a payout's sub-account is no longer owed; what of it the sub-account has repaid
 * meanwhile is its own again. Answers the movements that end the debt, and leaves in `owed` what it owes for something else.
 */
async function undoAdvance(
  tx: Transaction,
  context: TransferContext,
  transfer: Transfer,
  { owed, taken }: { owed: Map<Account, bigint>; taken: Map<Account, bigint> },
): Promise<Movement[]> {
  if (transfer.subAccountId === null) return [];
  const debt = owedAccount(transfer.subAccountId);
  const advanced = await bookedBy(tx, sourceOf(context, transfer), ({ flow }) => flow === 'advanced');
  const advancedMinor = advanced.taken.get(debt) ?? 0n;
  const owedMinor = owed.get(debt) ?? 0n;
  const forgivenMinor = owedMinor < advancedMinor ? owedMinor : advancedMinor;
  owed.set(debt, owedMinor - forgivenMinor);
  let repaidMinor = advancedMinor - forgivenMinor;
  for (const account of ['payable_available', 'receivable_merchant'] as const) {
    const given = taken.get(account) ?? 0n;
    const some = given < repaidMinor ? given : repaidMinor;
    if (some > 0n) move(taken, account, ownAccount(transfer), some);
    repaidMinor -= some;
  }
  return [{ debit: 'due_from_subs', credit: debt, amountMinor: forgivenMinor }];
}

/** Who gave for a refund gets it from the merchant, by the refund's own parts: shares may have been repaid meanwhile. */
function gatherAtMerchant(taken: Map<Account, bigint>): void {
  for (const [account, amountMinor] of taken) {
    if (account !== 'payable_available' && account !== debtAccount) {
      move(taken, account, 'payable_available', amountMinor);
    }
  }
}

/** Nobody could ever take what stands on the account of a deleted sub-account. */
async function divertDeleted(tx: Transaction, transfer: Transfer, taken: Map<Account, bigint>): Promise<bigint> {
  const account = ownAccount(transfer);
  const amountMinor = taken.get(account) ?? 0n;
  if (transfer.subAccountId === null || amountMinor === 0n) return 0n;
  const deleted = await lockDeleted(tx, transfer.merchantId, [transfer.subAccountId]);
  if (!deleted.has(transfer.subAccountId)) return 0n;
  move(taken, account, 'suspense', amountMinor);
  return amountMinor;
}

/** What the merchant owed for it and has repaid meanwhile is the merchant's again. */
function divertRepaid(taken: Map<Account, bigint>, balances: ReadonlyMap<Account, bigint>): void {
  const owedMinor = taken.get(debtAccount) ?? 0n;
  const standing = balances.get(debtAccount) ?? 0n;
  if (standing < owedMinor) move(taken, debtAccount, 'payable_available', owedMinor - standing);
}

/** The operator may have drawn the fees meanwhile; then the rest is a cost. */
function bearDrawnFees(given: Map<Account, bigint>, balances: ReadonlyMap<Account, bigint>): void {
  const feeMinor = given.get('fees') ?? 0n;
  const standing = balances.get('fees') ?? 0n;
  if (standing < feeMinor) move(given, 'fees', 'network_costs', feeMinor - standing);
}

function move(parts: Map<Account, bigint>, from: Account, to: Account, amountMinor: bigint): void {
  parts.set(from, (parts.get(from) ?? 0n) - amountMinor);
  parts.set(to, (parts.get(to) ?? 0n) + amountMinor);
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
  const account = ownAccount(transfer);
  const owed = await lockWithDebts(tx, transfer, ['suspense']);
  await post(tx, context, {
    ...sourceOf(context, transfer),
    flow: 'mismatch_accepted',
    movements: [
      { debit: 'suspense', credit: account, amountMinor: missing },
      { debit: 'suspense', credit: 'fees', amountMinor: feeMinor },
      ...repayments(owed, [{ account, amountMinor: missing }]),
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
  const { amountMinor } = transfer;
  const fromHeld = paidMinor < amountMinor ? paidMinor : amountMinor;
  const account = ownAccount(transfer);
  const owed = await lockWithDebts(tx, transfer, ['suspense']);
  await post(tx, context, {
    ...sourceOf(context, transfer),
    flow: 'mismatch_returned',
    movements: [
      { debit: float, credit: account, amountMinor: fromHeld },
      { debit: 'suspense', credit: account, amountMinor: amountMinor - fromHeld },
      { debit: 'suspense', credit: 'payable_available', amountMinor: transfer.feeMinor },
      { debit: float, credit: 'network_costs', amountMinor: paidMinor - fromHeld },
      ...repayments(owed, [{ account, amountMinor }]),
    ],
  });
}

/** Money of a deleted sub-account is the merchant's after all. */
export async function bookStrandedShare(
  tx: Transaction,
  context: TransferContext,
  transfer: Transfer,
  amountMinor: bigint,
): Promise<void> {
  await post(tx, context, {
    ...sourceOf(context, transfer),
    flow: 'share_kept',
    movements: [{ debit: 'suspense', credit: 'payable_available', amountMinor }],
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
