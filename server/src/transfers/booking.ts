import type { Transaction } from '../kit/db.ts';
import { least } from '../kit/money.ts';
import type { Account } from '../ledger/accounts.ts';
import { debtAccount, feeAdvance } from '../ledger/debt.ts';
import { releaseHold, settleHold } from '../ledger/hold.ts';
import { PlannedMovements } from '../ledger/planned-movements.ts';
import { lockBalances, post } from '../ledger/post.ts';
import type { Part, Movement } from '../ledger/posting.ts';
import { planDebtUndone, readOwnDebt, readWrittenOff } from '../ledger/undo-debt.ts';
import { bookedBy, partOfWhole } from '../ledger/undo.ts';
import type { PayoutTransaction } from '../networks/contract.ts';
import { debtAccounts, repayments } from '../sub-accounts/debts.ts';
import { lockDeleted } from '../sub-accounts/deleted-sub-accounts.ts';
import { balanceAccounts, owedAccount } from '../sub-accounts/ledger-accounts.ts';
import type { TransferContext } from './context.ts';
import { ledgerSource, ownAccount, totalMinor, transferKinds, type LockedTransfer, type Transfer } from './transfer.ts';

// Every posting of a transfer but its hold (docs/ledger.md, "Flows"). What is booked is never changed: a correction is
// another posting.

type BookingContext = Pick<TransferContext, 'clock' | 'newId'>;

/** Money that left a network's account for a transfer. */
export interface Payout {
  railAccount: string;
  providerTransaction: PayoutTransaction;
}

/** Posts movements of a transfer, or of the refund of the same id. */
export async function bookTransfer(
  tx: Transaction,
  { clock, newId }: BookingContext,
  transfer: Pick<Transfer, 'merchantId' | 'id' | 'currency'>,
  flow: string,
  movements: readonly Movement[],
): Promise<void> {
  await post(tx, { newId }, { ...ledgerSource(transfer), at: clock.now(), flow, movements });
}

/** The merchant owes the fee of a sub-account's payout; before the hold, which takes the fee from the balance. */
export async function bookFeeOwed(tx: Transaction, context: BookingContext, transfer: Transfer): Promise<void> {
  await bookTransfer(tx, context, transfer, 'fee_owed', [feeAdvance(transfer.feeMinor)]);
}

/** The beneficiary has the amount, the operator the fee. */
export async function bookCompleted(
  tx: Transaction,
  context: BookingContext,
  transfer: Transfer,
  payout: Payout,
): Promise<void> {
  const { amountMinor, feeMinor } = transfer;
  const to: Part[] = [
    { account: `float:${payout.railAccount}`, amountMinor },
    { account: 'fees', amountMinor: feeMinor },
  ];
  await settleHold(tx, context, { ...ledgerSource(transfer), at: context.clock.now() }, { flow: 'transfer', to });
  await bookNetworkCosts(tx, context, transfer, payout);
}

/**
 * Nothing was paid: amount and fee return to the accounts that they were held from, and the debt that the merchant incurred
 * for the transfer ends. A sub-account repays its debt from what returns to it; for a refund, whose advances are undone
 * first, refunds/ books that.
 */
export async function bookReleased(tx: Transaction, context: TransferContext, locked: LockedTransfer): Promise<void> {
  const { transfer } = locked;
  const endDebt = await lockOwnDebt(tx, context, locked);
  await releaseHold(tx, context, { ...ledgerSource(transfer), at: context.clock.now() }, async (released) =>
    transfer.kind === 'refund' ? [] : repayments(await lockWithDebts(tx, transfer), released),
  );
  await endDebt();
}

/**
 * Where the merchant owes for the transfer's own hold, locks everything that the outcome can book. Returns a function that
 * books the end of that debt once the held money has returned: on `account`, if the money returned there and not to
 * where it was held from; only its share of `partMinor` bututs, if only that much returned.
 */
async function lockOwnDebt(
  tx: Transaction,
  context: TransferContext,
  locked: LockedTransfer,
  returned: { account?: 'payable_available'; partMinor?: bigint } = {},
): Promise<() => Promise<void>> {
  const { transfer } = locked;
  const source = ledgerSource(transfer);
  // Transfers that are refused while the merchant owes add nothing to a debt.
  const own = transferKinds[transfer.kind].isRefusedInDebt ? null : await readOwnDebt(tx, source);
  if (own === null || own.leftMinor === 0n) return () => Promise.resolve();
  await lockOutcome(tx, context.transferOwners, locked);
  return async () => {
    const { account = own.account } = returned;
    const plan = new PlannedMovements(await lockBalances(tx, transfer, [account, debtAccount]));
    const { debited: held } = await bookedBy(tx, source, ({ flow }) => flow === 'held');
    const wholeMinor = held.get(own.account) ?? 0n;
    const backMinor = returned.partMinor ?? wholeMinor;
    const ownMinor = partOfWhole(own.wholeMinor, { beforeMinor: 0n, partMinor: backMinor, wholeMinor });
    const onAccountMinor = least(ownMinor, own.leftMinor);
    const writtenOffMinor = await readWrittenOff(tx, source);
    planDebtUndone(plan, { account, onAccountMinor, backMinor, writtenOffMinor, onDebtMinor: 0n });
    await bookTransfer(tx, context, transfer, 'debt_undone', plan.movements);
  };
}

/** Locks the debt of the transfer's sub-account, together with the other accounts that its booking will lock. */
async function lockWithDebts(
  tx: Transaction,
  transfer: Transfer,
  others: readonly Account[] = [],
): Promise<Map<Account, bigint>> {
  const debts = transfer.subAccountId === null ? [] : await debtAccounts(tx, transfer, [transfer.subAccountId]);
  return lockBalances(tx, transfer, [...others, ...debts]);
}

/** The balances of the accounts that an outcome books to, and which of its sub-accounts have been deleted. */
export interface LockedOutcome {
  balances: Map<Account, bigint>;
  deleted: ReadonlySet<string>;
}

/**
 * Locks everything that an outcome can book beside its hold: the records of the transfer's owner, its sub-accounts, then all
 * accounts in the one order (docs/adr/0013). An outcome can have several postings, such as a late payout with its reversal,
 * or a reversal with the end of its refund: the first of them locks for all. To call it again costs little.
 */
export async function lockOutcome(
  tx: Transaction,
  owners: TransferContext['transferOwners'],
  locked: LockedTransfer,
): Promise<LockedOutcome> {
  const { merchantId, currency, kind, subAccountId } = locked.transfer;
  const ofOwner = (await owners[kind]?.lock(tx, locked)) ?? [];
  const ids = subAccountId === null ? ofOwner : [subAccountId, ...ofOwner];
  const deleted = await lockDeleted(tx, merchantId, ids);
  const ofMerchant: Account[] = ['fees', 'payable_available', 'payable_pending', debtAccount, 'suspense'];
  const ofSubAccounts = ids.flatMap((id) => [...balanceAccounts(id), owedAccount(id)]);
  const accounts: Account[] = ['due_from_subs', ...ofMerchant, ...ofSubAccounts];
  return { deleted, balances: await lockBalances(tx, { merchantId, currency }, accounts) };
}

/**
 * The network paid another amount. What left its account is booked; what is left of the held amount, and the fee, go to
 * `suspense` until a person has decided. Until then the operator bears what was overpaid.
 */
export async function bookMismatch(
  tx: Transaction,
  context: BookingContext,
  transfer: Transfer,
  payout: Payout,
): Promise<void> {
  const float = `float:${payout.railAccount}` as const;
  const paidMinor = payout.providerTransaction.amountMinor;
  const fromHeldMinor = least(paidMinor, transfer.amountMinor);
  const to: Part[] = [
    { account: float, amountMinor: fromHeldMinor },
    { account: 'suspense', amountMinor: totalMinor(transfer) - fromHeldMinor },
  ];
  const flow = 'transfer_mismatch';
  await settleHold(tx, context, { ...ledgerSource(transfer), at: context.clock.now() }, { flow, to });
  const overpaid = { debit: 'network_costs', credit: float, amountMinor: paidMinor - fromHeldMinor } as const;
  await bookTransfer(tx, context, transfer, flow, [overpaid]);
  await bookNetworkCosts(tx, context, transfer, payout);
}

/**
 * The network paid after the transfer had ended. A sub-account's payout is taken from the sub-account first; then the
 * merchant's balance covers it, and the merchant owes the rest. The sub-account owes the merchant what the merchant covered,
 * unless it was deleted meanwhile. Returns what the merchant owes, in bututs.
 */
export async function bookLateSuccess(
  tx: Transaction,
  context: TransferContext,
  locked: LockedTransfer,
  payout: Payout,
): Promise<bigint> {
  const { transfer } = locked;
  const { subAccountId } = transfer;
  const float = `float:${payout.railAccount}` as const;
  const paidMinor = payout.providerTransaction.amountMinor;
  const { deleted, balances } = await lockOutcome(tx, context.transferOwners, locked);
  let missingMinor = paidMinor;
  const movements = [...new Set([ownAccount(transfer), 'payable_available'] as const)].map((debit): Movement => {
    const amountMinor = least(balances.get(debit) ?? 0n, missingMinor);
    missingMinor -= amountMinor;
    return { debit, credit: float, amountMinor };
  });
  movements.push({ debit: debtAccount, credit: float, amountMinor: missingMinor });
  await bookTransfer(tx, context, transfer, 'late_success', movements);
  if (subAccountId !== null && !deleted.has(subAccountId)) {
    const amountMinor = paidMinor - (movements[0]?.amountMinor ?? 0n);
    const advance = { debit: owedAccount(subAccountId), credit: 'due_from_subs', amountMinor } as const;
    await bookTransfer(tx, context, transfer, 'advanced', [advance]);
  }
  await bookNetworkCosts(tx, context, transfer, payout);
  return missingMinor;
}

/** The network paid a transfer twice, so the second payment is the operator's loss until it is recovered. */
export async function bookPaidTwice(
  tx: Transaction,
  context: BookingContext,
  transfer: Transfer,
  payout: Payout,
): Promise<void> {
  const { amountMinor } = payout.providerTransaction;
  const loss = { debit: 'network_costs', credit: `float:${payout.railAccount}`, amountMinor } as const;
  await bookTransfer(tx, context, transfer, 'paid_twice', [loss]);
  await bookNetworkCosts(tx, context, transfer, payout);
}

/** The network returned the second payment. */
export async function bookPaidTwiceRecovered(
  tx: Transaction,
  context: BookingContext,
  transfer: Transfer,
  { railAccount, amountMinor }: { railAccount: string; amountMinor: bigint },
): Promise<void> {
  const recovered = { debit: `float:${railAccount}`, credit: 'network_costs', amountMinor } as const;
  await bookTransfer(tx, context, transfer, 'paid_twice_recovered', [recovered]);
}

/** A person accepted the other amount: the beneficiary keeps it, and what was not paid returns. */
export async function bookMismatchAccepted(
  tx: Transaction,
  context: TransferContext,
  locked: LockedTransfer,
  paidMinor: bigint,
): Promise<void> {
  const { transfer } = locked;
  const { amountMinor, feeMinor } = transfer;
  const missingMinor = paidMinor < amountMinor ? amountMinor - paidMinor : 0n;
  const account = ownAccount(transfer);
  // What a payout did not pay is the sub-account's; the merchant owes only the fee, which stays.
  const isMerchants = transfer.subAccountId === null && missingMinor > 0n;
  // Of a refund, each party gets back its part of what was not paid, once the refund ends (refunds/).
  if (transfer.kind === 'refund') await lockOutcome(tx, context.transferOwners, locked);
  const returned = { account: 'payable_available', partMinor: missingMinor } as const;
  const endDebt = isMerchants ? await lockOwnDebt(tx, context, locked, returned) : null;
  const owed = await lockWithDebts(tx, transfer, ['suspense']);
  await bookTransfer(tx, context, transfer, 'mismatch_accepted', [
    { debit: 'suspense', credit: account, amountMinor: missingMinor },
    { debit: 'suspense', credit: 'fees', amountMinor: feeMinor },
    ...repayments(owed, [{ account, amountMinor: missingMinor }]),
  ]);
  await endDebt?.();
}

/** The network reversed the other amount: everything is as if it had never paid. */
export async function bookMismatchReturned(
  tx: Transaction,
  context: TransferContext,
  locked: LockedTransfer,
  { railAccount, paidMinor }: { railAccount: string; paidMinor: bigint },
): Promise<void> {
  const { transfer } = locked;
  const { amountMinor, feeMinor } = transfer;
  const float = `float:${railAccount}` as const;
  const fromHeldMinor = least(paidMinor, amountMinor);
  const account = ownAccount(transfer);
  const endDebt = await lockOwnDebt(tx, context, locked, { account: 'payable_available' });
  const { balances: owed } = await lockOutcome(tx, context.transferOwners, locked);
  await bookTransfer(tx, context, transfer, 'mismatch_returned', [
    { debit: float, credit: account, amountMinor: fromHeldMinor },
    { debit: 'suspense', credit: account, amountMinor: amountMinor - fromHeldMinor },
    { debit: 'suspense', credit: 'payable_available', amountMinor: feeMinor },
    { debit: float, credit: 'network_costs', amountMinor: paidMinor - fromHeldMinor },
    ...repayments(owed, [{ account, amountMinor }]),
  ]);
  await endDebt();
}

/** A person credited the money of a deleted sub-account to the merchant. */
export async function bookUnallocatedShare(
  tx: Transaction,
  context: BookingContext,
  transfer: Transfer,
  amountMinor: bigint,
): Promise<void> {
  const credited = { debit: 'suspense', credit: 'payable_available', amountMinor } as const;
  await bookTransfer(tx, context, transfer, 'share_kept', [credited]);
}

/** The fee that the network charged us on top of the payout. */
async function bookNetworkCosts(
  tx: Transaction,
  context: BookingContext,
  transfer: Transfer,
  { railAccount, providerTransaction: { networkFeeMinor: amountMinor } }: Payout,
): Promise<void> {
  const cost = { debit: 'network_costs', credit: `float:${railAccount}`, amountMinor } as const;
  await bookTransfer(tx, context, transfer, 'network_fee', [cost]);
}
