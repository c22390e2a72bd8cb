import type { Transaction } from '../kit/db.ts';
import { moneyText } from '../kit/money.ts';
import type { PayoutReceipt } from '../networks/contract.ts';
import { claimPayout, openTransferCase, settleSuccess } from './apply-success.ts';
import { bookGivenBack, paidOut } from './booking.ts';
import type { TransferContext } from './context.ts';
import { changeTransfer, withLockedTransfer } from './transfer-change.ts';
import type { LockedTransfer } from './transfer-change.ts';
import type { Transfer } from './transfer.ts';

/**
 * The network gave money back that it had paid out. The payout is booked first where we had not heard of it, so that its
 * own news, when it comes late, finds it settled; in the same transaction, because this might be the only news of both.
 */
export async function applyReversal(
  context: TransferContext,
  transfer: Transfer,
  receipt: PayoutReceipt,
): Promise<void> {
  if (transfer.status === 'reversed' && transfer.networkTransactionId === receipt.transactionId) return;
  const payout = await claimPayout(context, transfer, receipt);
  await withLockedTransfer(context, transfer, async (tx, locked) => {
    const before = locked.transfer;
    const isOther = before.networkTransactionId !== null && before.networkTransactionId !== receipt.transactionId;
    const isOurs = payout.claimed && !isOther;
    const current = isOurs ? await settleSuccess(tx, context, locked, payout) : before;
    if (current.status === 'reversed') return;
    const isWhole = isOurs && (await isWhatWasPaid(tx, context, current, receipt));
    const isNew = await openTransferCase(tx, context, current, receipt, {
      kind: 'network_reversal',
      summary: `${current.network} gave ${moneyText(receipt)} back after it had paid. ${remark(current, { isOurs, isWhole })}`,
    });
    if (isNew && isWhole) await giveBack(tx, context, { ...locked, transfer: current });
  });
}

/** Another amount than what went out is nothing that a rule may book. */
async function isWhatWasPaid(
  tx: Transaction,
  context: TransferContext,
  transfer: Transfer,
  { amountMinor, currency }: PayoutReceipt,
): Promise<boolean> {
  return currency === transfer.currency && amountMinor === (await paidOut(tx, context, transfer));
}

/**
 * Everyone gets back what the transfer took of them. A transfer that had ended without the payment stays as it ended; one
 * whose other amount waits for a person is left to that person.
 */
async function giveBack(tx: Transaction, context: TransferContext, locked: LockedTransfer): Promise<void> {
  const { transfer } = locked;
  if (transfer.status === 'completed') await reverse(tx, context, locked);
  else if (transfer.review === 'late_success') await undoLateSuccess(tx, context, locked);
}

/** A completed transfer's money is back, with its fee. Also what a person decides after a contradiction. */
export async function reverse(tx: Transaction, context: TransferContext, locked: LockedTransfer): Promise<void> {
  await bookBack(tx, context, locked.transfer, 'transfer_reversed');
  await changeTransfer(tx, context, locked, { status: 'reversed' });
}

/** What was paid after the transfer had ended is back. Also what a person decides who recovered it. */
export async function undoLateSuccess(
  tx: Transaction,
  context: TransferContext,
  locked: LockedTransfer,
): Promise<void> {
  await bookBack(tx, context, locked.transfer, 'late_success_reversed');
  await changeTransfer(tx, context, locked, { review: null });
}

/** With a case for what would be a deleted sub-account's, which stands where only a person can move it. */
async function bookBack(
  tx: Transaction,
  context: TransferContext,
  transfer: Transfer,
  flow: 'transfer_reversed' | 'late_success_reversed',
): Promise<void> {
  const { strandedMinor } = await bookGivenBack(tx, context, transfer, flow);
  if (strandedMinor === 0n) return;
  const about = { transactionId: transfer.subAccountId ?? '', amountMinor: strandedMinor, currency: transfer.currency };
  await openTransferCase(tx, context, transfer, about, {
    kind: 'share_without_owner',
    summary: `A payout came back whose sub-account ${transfer.subAccountId} was deleted. Its money is in suspense.`,
  });
}

function remark(transfer: Transfer, { isOurs, isWhole }: { isOurs: boolean; isWhole: boolean }): string {
  if (!isOurs) return 'It is another transaction than the one that paid: nothing was booked.';
  if (transfer.review === 'amount_mismatch') return 'It had paid another amount than ordered: resolve that case too.';
  if (!isWhole) return 'That is not what it had paid: nothing was booked.';
  if (transfer.review === 'late_success')
    return 'It had paid after the transfer ended; who had given the money has it again.';
  return 'Who had given the money has it again.';
}
