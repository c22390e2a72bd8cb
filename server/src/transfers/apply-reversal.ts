import { listCasesOfSubject } from '../cases/list-cases.ts';
import { openReversalCase } from '../cases/open-reversal-case.ts';
import type { Transaction } from '../kit/db.ts';
import { moneyText } from '../kit/money.ts';
import type { PayoutTransaction } from '../networks/contract.ts';
import {
  claimPayout,
  isNamedByStatement,
  openTransferCase,
  settleSuccess,
  type ClaimedPayout,
} from './apply-success.ts';
import { bookReversal, readReversible, type ReversalFlow } from './book-reversal.ts';
import type { TransferContext } from './context.ts';
import { changeTransfer, withLockedTransfer } from './transfer-change.ts';
import type { LockedTransfer, Transfer } from './transfer.ts';

/** A reversal of a payout, as a network reports it. */
interface ReportedReversal {
  providerTransaction: PayoutTransaction;
  /** See `ReversalIdentity`; null where the network gives none. */
  reversalId?: string | null;
}

/**
 * The network reversed a payout. A payout that has not been reported is booked first, in the same transaction: this may be
 * the only report of both, and a late one of the payout then finds it settled. A reversal of all that is left is booked; a
 * part waits for a person, who books it in proportion (`reversePart`).
 */
export async function applyReversal(
  context: TransferContext,
  transfer: Transfer,
  { providerTransaction, reversalId = null }: ReportedReversal,
): Promise<void> {
  if (transfer.status === 'reversed' && transfer.networkTransactionId === providerTransaction.transactionId) return;
  const payout = await claimPayout(context, transfer, providerTransaction);
  await withLockedTransfer(context, transfer, (tx, locked) =>
    settleReversal(tx, context, locked, { payout, reversalId }),
  );
}

/** Books a reversal under the transfer's lock, or opens the case by which a person does. */
export async function settleReversal(
  tx: Transaction,
  context: TransferContext,
  locked: LockedTransfer,
  { payout, reversalId }: { payout: ClaimedPayout; reversalId: string | null },
): Promise<void> {
  const { providerTransaction } = payout;
  const before = locked.transfer;
  const isOther =
    before.networkTransactionId !== null &&
    before.networkTransactionId !== providerTransaction.transactionId &&
    !(await isNamedByStatement(tx, context, locked, payout));
  const isOurs = payout.claimed && !isOther;
  const current = isOurs ? await settleSuccess(tx, context, locked, payout) : before;
  if (current.status === 'reversed') return;
  const reported = { ...providerTransaction, reversalId };
  if (!isOurs) return openCaseOf(tx, context, current, reported, { kind: 'network_reversal', remark: notOurs });
  const leftMinor = await readReversible(tx, current);
  const isWhole = providerTransaction.currency === current.currency && providerTransaction.amountMinor === leftMinor;
  // After a part nothing is booked without a person: the same amount may be that part, reported again.
  if (leftMinor > 0n && (!isWhole || (await hasPartCase(tx, current, providerTransaction)))) {
    return openCaseOf(tx, context, current, reported, { kind: 'partial_reversal', remark: notWhole });
  }
  const summary = `${reversalText(current, providerTransaction)} ${remarkOf(current, isWhole)}`;
  const isNew = await openTransferCase(tx, context, current, providerTransaction, {
    kind: 'network_reversal',
    summary,
  });
  if (isNew && isWhole) await reverseWhole(tx, context, { ...locked, transfer: current });
}

const notOurs = 'It is another transaction than the one that paid: nothing was booked.';
const notWhole = 'That is a part of what it had paid, or follows a part: nothing was booked.';

function reversalText({ network }: Transfer, providerTransaction: PayoutTransaction): string {
  return `${network} reversed ${moneyText(providerTransaction)} after it had paid.`;
}

function remarkOf(transfer: Transfer, isWhole: boolean): string {
  if (transfer.review === 'amount_mismatch') return 'It had paid another amount than requested: resolve that case too.';
  if (!isWhole) return 'That is not what it had paid: nothing was booked.';
  const returned = 'The money was returned to the accounts that it was taken from.';
  return transfer.review === 'late_success' ? `It had paid after the transfer ended. ${returned}` : returned;
}

/** Whether a part of the same payout was reported before, booked or not. */
async function hasPartCase(
  tx: Transaction,
  { merchantId, id }: Transfer,
  { transactionId }: PayoutTransaction,
): Promise<boolean> {
  const cases = await listCasesOfSubject(tx, merchantId, id);
  return cases.some((found) => found.kind === 'partial_reversal' && found.transactionId === transactionId);
}

/** Opens the case of a reversal that no rule may book. */
async function openCaseOf(
  tx: Transaction,
  context: TransferContext,
  transfer: Transfer,
  reported: PayoutTransaction & { reversalId: string | null },
  { kind, remark }: { kind: 'network_reversal' | 'partial_reversal'; remark: string },
): Promise<void> {
  const { merchantId, id: subjectId } = transfer;
  const { transactionId, amountMinor, currency, reversalId } = reported;
  const summary = `${reversalText(transfer, reported)} ${remark}`;
  const about = { merchantId, subjectType: 'transfer', subjectId, kind, summary } as const;
  await openReversalCase(tx, context, about, { transactionId, amountMinor, currency, reversalId });
}

/** A transfer whose other amount waits for a person is left to that person. */
async function reverseWhole(tx: Transaction, context: TransferContext, locked: LockedTransfer): Promise<void> {
  const { transfer } = locked;
  if (transfer.status === 'completed') await reverse(tx, context, locked);
  else if (transfer.review === 'late_success') await reverseLateSuccess(tx, context, locked);
}

/** Reverses all that is left of a completed transfer, with its fee. */
export async function reverse(tx: Transaction, context: TransferContext, locked: LockedTransfer): Promise<void> {
  await book(tx, context, locked, { flow: 'transfer_reversed' });
  await changeTransfer(tx, context, locked, { status: 'reversed' });
}

/** Reverses all that is left of a payment that came after the transfer had ended; the transfer stays as it ended. */
export async function reverseLateSuccess(
  tx: Transaction,
  context: TransferContext,
  locked: LockedTransfer,
): Promise<void> {
  await book(tx, context, locked, { flow: 'late_success_reversed' });
  await changeTransfer(tx, context, locked, { review: null });
}

/**
 * Reverses a part of a payout, as a person has decided: credited in proportion to the accounts that the transfer had debited,
 * the fee with it. Once nothing is left, the transfer is as if all of it had been reversed at once.
 */
export async function reversePart(
  tx: Transaction,
  context: TransferContext,
  locked: LockedTransfer,
  partMinor: bigint,
): Promise<void> {
  const { transfer } = locked;
  const isCompleted = transfer.status === 'completed';
  const flow = isCompleted ? 'transfer_reversed' : 'late_success_reversed';
  const leftMinor = await book(tx, context, locked, { flow, partMinor });
  if (leftMinor > 0n) {
    await changeTransfer(tx, context, locked, { amountReversedMinor: transfer.amountReversedMinor + partMinor });
  } else {
    await changeTransfer(tx, context, locked, isCompleted ? { status: 'reversed' } : { review: null });
  }
}

/** Books a reversal, with a case for what belongs to a deleted sub-account. Returns what is left to reverse, in bututs. */
async function book(
  tx: Transaction,
  context: TransferContext,
  locked: LockedTransfer,
  reversal: { flow: ReversalFlow; partMinor?: bigint },
): Promise<bigint> {
  const { transfer } = locked;
  const { unallocatedMinor: amountMinor, leftMinor } = await bookReversal(tx, context, locked, reversal);
  if (amountMinor === 0n) return leftMinor;
  const { subAccountId, currency } = transfer;
  // Each of several parts has a case of its own.
  const isOnlyPart = transfer.amountReversedMinor === 0n && leftMinor === 0n;
  const transactionId = isOnlyPart ? (subAccountId ?? '') : `${subAccountId} ${context.newId()}`;
  const about = { transactionId, amountMinor, currency };
  await openTransferCase(tx, context, transfer, about, {
    kind: 'share_without_owner',
    summary: `A payout of the deleted sub-account ${subAccountId} was reversed. Its money is in suspense.`,
  });
  return leftMinor;
}
