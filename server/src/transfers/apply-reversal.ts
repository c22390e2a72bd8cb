import { listCasesOfSubject } from '../cases/list-cases.ts';
import { openReversalCase } from '../cases/open-reversal-case.ts';
import type { Transaction } from '../kit/db.ts';
import { moneyText } from '../kit/money.ts';
import type { PayoutTransaction } from '../networks/contract.ts';
import { claimPayout, openTransferCase, settleSuccess } from './apply-success.ts';
import { bookReturned, paidOut } from './book-given-back.ts';
import type { GivenBack, GivenBackFlow } from './book-given-back.ts';
import type { TransferContext } from './context.ts';
import { changeTransfer, withLockedTransfer } from './transfer-change.ts';
import type { LockedTransfer, Transfer } from './transfer.ts';

/**
 * The network gave money back that it had paid out. The payout is booked first where we had not heard of it, so that its
 * own news, when it comes late, finds it settled; in the same transaction, because this might be the only news of both.
 * All of it is booked back; a part waits for a person, who books it in proportion (`givePartBack`).
 */
export async function applyReversal(
  context: TransferContext,
  transfer: Transfer,
  { providerTransaction, reversalId = null }: ReportedReversal,
): Promise<void> {
  if (transfer.status === 'reversed' && transfer.networkTransactionId === providerTransaction.transactionId) return;
  const payout = await claimPayout(context, transfer, providerTransaction);
  await withLockedTransfer(context, transfer, async (tx, locked) => {
    const before = locked.transfer;
    const isOther =
      before.networkTransactionId !== null && before.networkTransactionId !== providerTransaction.transactionId;
    const isOurs = payout.claimed && !isOther;
    const current = isOurs ? await settleSuccess(tx, context, locked, payout) : before;
    if (current.status === 'reversed') return;
    const leftMinor = isOurs ? await paidOut(tx, context, current) : 0n;
    const isWhole = providerTransaction.currency === current.currency && providerTransaction.amountMinor === leftMinor;
    const reported = { ...providerTransaction, reversalId };
    if (!isOurs) return openCaseOf(tx, context, current, reported, { kind: 'network_reversal', remark: notOurs });
    // After a part nothing is booked without a person: the same amount may be that part, reported again.
    if (leftMinor > 0n && (!isWhole || (await hasPartCase(tx, current, providerTransaction)))) {
      return openCaseOf(tx, context, current, reported, { kind: 'partial_reversal', remark: notAll });
    }
    const summary = `${gaveBack(current, providerTransaction)} ${remarkOf(current, isWhole)}`;
    const isNew = await openTransferCase(tx, context, current, providerTransaction, {
      kind: 'network_reversal',
      summary,
    });
    if (isNew && isWhole) await returnMoney(tx, context, { ...locked, transfer: current });
  });
}

const notOurs = 'It is another transaction than the one that paid: nothing was booked.';
const notAll = 'That is not all that it had paid, or not at once: nothing was booked.';

function gaveBack({ network }: Transfer, providerTransaction: PayoutTransaction): string {
  return `${network} gave ${moneyText(providerTransaction)} back after it had paid.`;
}

/** What a network reports of a payout that it reversed. */
interface ReportedReversal {
  providerTransaction: PayoutTransaction;
  /** See `ReversalIdentity`; null where the network gives none. */
  reversalId?: string | null;
}

/** Whether a part of the same payout was reported before, booked or not. */
async function hasPartCase(
  tx: Transaction,
  { merchantId, id }: Transfer,
  providerTransaction: PayoutTransaction,
): Promise<boolean> {
  const cases = await listCasesOfSubject(tx, merchantId, id);
  return cases.some(
    (found) => found.kind === 'partial_reversal' && found.transactionId === providerTransaction.transactionId,
  );
}

/** Of what a rule may not book. */
async function openCaseOf(
  tx: Transaction,
  context: TransferContext,
  transfer: Transfer,
  reported: PayoutTransaction & { reversalId: string | null },
  { kind, remark }: { kind: 'network_reversal' | 'partial_reversal'; remark: string },
): Promise<void> {
  const { merchantId, id: subjectId } = transfer;
  const { transactionId, amountMinor, currency, reversalId } = reported;
  const summary = `${gaveBack(transfer, reported)} ${remark}`;
  const about = { merchantId, subjectType: 'transfer', subjectId, kind, summary } as const;
  await openReversalCase(tx, context, about, { transactionId, amountMinor, currency, reversalId });
}

/**
 * Everyone gets back what the transfer took of them. A transfer that had ended without the payment stays as it ended; one
 * whose other amount waits for a person is left to that person.
 */
async function returnMoney(tx: Transaction, context: TransferContext, locked: LockedTransfer): Promise<void> {
  const { transfer } = locked;
  if (transfer.status === 'completed') await reverse(tx, context, locked);
  else if (transfer.review === 'late_success') await undoLateSuccess(tx, context, locked);
}

/**
 * Books a part of a payout that the network gave back: everyone gets back in proportion what the transfer took of them, the
 * fee with it. Once nothing is out any more the transfer is as if all of it had come back at once. A person decides it.
 */
export async function givePartBack(
  tx: Transaction,
  context: TransferContext,
  locked: LockedTransfer,
  partMinor: bigint,
): Promise<void> {
  const { transfer } = locked;
  const isCompleted = transfer.status === 'completed';
  const flow = isCompleted ? 'transfer_reversed' : 'late_success_reversed';
  const { leftMinor } = await bookBack(tx, context, locked, { flow, partMinor });
  if (leftMinor > 0n) {
    await changeTransfer(tx, context, locked, { amountReversedMinor: transfer.amountReversedMinor + partMinor });
  } else {
    await changeTransfer(tx, context, locked, isCompleted ? { status: 'reversed' } : { review: null });
  }
}

/** A completed transfer's money is back, with its fee. Also what a person decides after a contradiction. */
export async function reverse(tx: Transaction, context: TransferContext, locked: LockedTransfer): Promise<void> {
  await bookBack(tx, context, locked, { flow: 'transfer_reversed' });
  await changeTransfer(tx, context, locked, { status: 'reversed' });
}

/** What was paid after the transfer had ended is back. Also what a person decides who recovered it. */
export async function undoLateSuccess(
  tx: Transaction,
  context: TransferContext,
  locked: LockedTransfer,
): Promise<void> {
  await bookBack(tx, context, locked, { flow: 'late_success_reversed' });
  await changeTransfer(tx, context, locked, { review: null });
}

/** With a case for what would be a deleted sub-account's, which stands where only a person can move it. */
async function bookBack(
  tx: Transaction,
  context: TransferContext,
  locked: LockedTransfer,
  back: { flow: GivenBackFlow; partMinor?: bigint },
): Promise<GivenBack> {
  const { transfer } = locked;
  const booked = await bookReturned(tx, context, locked, back);
  const { unallocatedMinor: amountMinor, leftMinor } = booked;
  if (amountMinor === 0n) return booked;
  const { subAccountId, currency } = transfer;
  // Several parts may strand money of the same sub-account, and each is a case of its own.
  const isOnlyPart = transfer.amountReversedMinor === 0n && leftMinor === 0n;
  const transactionId = isOnlyPart ? (subAccountId ?? '') : `${subAccountId} ${context.newId()}`;
  await openTransferCase(
    tx,
    context,
    transfer,
    { transactionId, amountMinor, currency },
    {
      kind: 'share_without_owner',
      summary: `A payout came back whose sub-account ${subAccountId} was deleted. Its money is in suspense.`,
    },
  );
  return booked;
}

function remarkOf(transfer: Transfer, isWhole: boolean): string {
  if (transfer.review === 'amount_mismatch') return 'It had paid another amount than ordered: resolve that case too.';
  if (!isWhole) return 'That is not what it had paid: nothing was booked.';
  if (transfer.review === 'late_success')
    return 'It had paid after the transfer ended; who had given the money has it again.';
  return 'Who had given the money has it again.';
}
