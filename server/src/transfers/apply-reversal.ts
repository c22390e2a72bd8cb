import type { PayoutReceipt } from '../networks/contract.ts';
import { claimPayout, money, openTransferCase, settleSuccess } from './apply-success.ts';
import { bookLateSuccessReversed, bookReversed } from './booking.ts';
import type { TransferContext } from './context.ts';
import { changeTransfer, withLockedTransfer } from './transfer-change.ts';
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
    const current = isOther || !payout.claimed ? before : await settleSuccess(tx, context, locked, payout);
    if (current.status === 'reversed') return;
    const isNew = await openTransferCase(tx, context, current, receipt, {
      kind: 'network_reversal',
      summary: `${current.network} gave ${money(receipt.currency, receipt.amountMinor)} back after it had paid. ${remark(current, isOther)}`,
    });
    if (!isNew || isOther || !payout.claimed) return;
    if (current.status === 'completed') {
      await bookReversed(tx, context, current, payout.railAccount);
      await changeTransfer(tx, context, { ...locked, transfer: current }, { status: 'reversed' });
    } else if (current.review === 'late_success') {
      const { railAccount } = payout;
      await bookLateSuccessReversed(tx, context, current, { railAccount, amountMinor: receipt.amountMinor });
      await changeTransfer(tx, context, { ...locked, transfer: current }, { review: null });
    }
  });
}

function remark(transfer: Transfer, isOther: boolean): string {
  if (isOther) return 'It is another transaction than the one that paid: nothing was booked.';
  switch (transfer.review) {
    case 'amount_mismatch':
      return 'It had paid another amount than ordered: resolve that case too.';
    case 'late_success':
      return 'It had paid after the transfer ended; the merchant has the money again.';
    default:
      return 'The merchant has the money again.';
  }
}
