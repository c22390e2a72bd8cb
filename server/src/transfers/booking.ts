import type { Transaction } from '../kit/db.ts';
import { least } from '../kit/money.ts';
import type { Account } from '../ledger/accounts.ts';
import { hold, releaseHold, settleHold } from '../ledger/hold.ts';
import type { Part, Movement } from '../ledger/posting.ts';
import { debtAccount, feeAdvance } from '../ledger/debt.ts';
import { PlannedMovements } from '../ledger/planned-movements.ts';
import { lockBalances, post } from '../ledger/post.ts';
import { planDebtUndone, readOwnDebt, readWrittenOff } from '../ledger/undo-debt.ts';
import { bookedBy } from '../ledger/undo.ts';
import type { PayoutTransaction } from '../networks/contract.ts';
import { debtAccounts, repayments } from '../sub-accounts/debts.ts';
import { owedAccount } from '../sub-accounts/ledger-accounts.ts';
import type { TransferContext } from './context.ts';
import { lockOutcome } from './lock-outcome.ts';
import type { LockedTransfer, Transfer } from './transfer.ts';
import { ownAccount, transferKinds } from './transfer-kinds.ts';
import { totalMinor } from './transfer.ts';

// Every entry a transfer makes (docs/ledger.md, "Flows"). What was booked is never changed: what turns out
// otherwise is another entry.

/** Money that left a network's account for a transfer. */
export interface Payout {
  railAccount: string;
  providerTransaction: PayoutTransaction;
}

/** Money that a network has given back. */
export interface ReturnedMoney {
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
 * it; for a refund, whose advances are undone first, refunds/ books that. What the merchant came to owe for it ends with it.
 */
export async function bookReleased(tx: Transaction, context: TransferContext, locked: LockedTransfer): Promise<void> {
  const { transfer } = locked;
  const endDebt = await ownDebtOf(tx, context, locked, 'where_it_was');
  await releaseHold(tx, context, sourceOf(context, transfer), async (back) =>
    transfer.kind === 'refund' ? [] : repayments(await lockWithDebts(tx, transfer), back),
  );
  await endDebt();
}

/**
 * What the merchant owes for the transfer's own hold. Locks everything that the outcome can book, where there is such a debt;
 * the answer books its end, once the held money is back.
 */
async function ownDebtOf(
  tx: Transaction,
  context: TransferContext,
  locked: LockedTransfer,
  comesBackTo: 'where_it_was' | 'payable_available',
): Promise<() => Promise<void>> {
  const { transfer } = locked;
  const source = sourceOf(context, transfer);
  // Transfers are refused while the merchant owes, so they add nothing to a debt.
  const own = transferKinds[transfer.kind].isRefusedInDebt ? null : await readOwnDebt(tx, source);
  if (own === null || own.leftMinor === 0n) return () => Promise.resolve();
  await lockOutcome(tx, context, locked);
  return async () => {
    const { leftMinor: onAccountMinor } = own;
    const account = comesBackTo === 'where_it_was' ? own.account : comesBackTo;
    const plan = new PlannedMovements(await lockBalances(tx, transfer, [account, debtAccount]));
    const { debited } = await bookedBy(tx, source, ({ flow }) => flow === 'held');
    const backMinor = debited.get(own.account) ?? 0n;
    const writtenOffMinor = await readWrittenOff(tx, source);
    planDebtUndone(plan, { account, onAccountMinor, backMinor, writtenOffMinor, onDebtMinor: 0n });
    await post(tx, context, { ...source, flow: 'debt_undone', movements: plan.movements });
  };
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
  const paid = payout.providerTransaction.amountMinor;
  const fromHeld = least(paid, transfer.amountMinor);
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
  locked: LockedTransfer,
  payout: Payout,
): Promise<{ shortfallMinor: bigint }> {
  const { transfer } = locked;
  const float = `float:${payout.railAccount}` as const;
  const paid = payout.providerTransaction.amountMinor;
  const { deleted, balances } = await lockOutcome(tx, context, locked);
  // A sub-account's own money first, then the merchant's, who answers for it.
  const accounts = [...new Set([ownAccount(transfer), 'payable_available'] as const)];
  let missing = paid;
  const movements: Movement[] = [];
  for (const account of accounts) {
    const taken = least(balances.get(account) ?? 0n, missing);
    movements.push({ debit: account, credit: float, amountMinor: taken });
    missing -= taken;
  }
  movements.push({ debit: debtAccount, credit: float, amountMinor: missing });
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
      {
        debit: 'network_costs',
        credit: `float:${payout.railAccount}`,
        amountMinor: payout.providerTransaction.amountMinor,
      },
    ],
  });
  await bookNetworkCosts(tx, context, transfer, payout);
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
  locked: LockedTransfer,
  { railAccount, paidMinor }: { railAccount: string; paidMinor: bigint },
): Promise<void> {
  const { transfer } = locked;
  const float = `float:${railAccount}` as const;
  const { amountMinor } = transfer;
  const fromHeld = least(paidMinor, amountMinor);
  const account = ownAccount(transfer);
  const endDebt = await ownDebtOf(tx, context, locked, 'payable_available');
  const { balances: owed } = await lockOutcome(tx, context, locked);
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
  await endDebt();
}

/** Money of a deleted sub-account is the merchant's after all. */
export async function bookUnallocatedShare(
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
  { railAccount, amountMinor }: ReturnedMoney,
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
  { railAccount, providerTransaction }: Payout,
): Promise<void> {
  await post(tx, context, {
    ...sourceOf(context, transfer),
    flow: 'network_fee',
    movements: [
      { debit: 'network_costs', credit: `float:${railAccount}`, amountMinor: providerTransaction.networkFeeMinor },
    ],
  });
}

/** Under whose name everything about a transfer is booked. */
export function sourceOf(context: TransferContext, transfer: Transfer) {
  return {
    merchantId: transfer.merchantId,
    currency: transfer.currency,
    source: { type: 'transfer', id: transfer.id },
    at: context.clock.now(),
  };
}
