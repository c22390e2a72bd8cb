import { moneyText } from '../kit/money.ts';
import type { Failure } from '../networks/contract.ts';
import { openTransferCase } from './apply-success.ts';
import { bookReleased } from './booking.ts';
import type { TransferContext } from './context.ts';
import { uncountTransfer } from './limits.ts';
import { noteTransfer } from './notes.ts';
import { changeTransfer, withLockedTransfer } from './transfer-change.ts';
import type { Transfer } from './transfer.ts';

/**
 * The network refused, and documents that as final: the money goes back to where it was held from. A refusal after the
 * network had said that it paid is a contradiction, which only a person can clear up with the network.
 */
export async function applyRefusal(context: TransferContext, transfer: Transfer, failure: Failure): Promise<void> {
  await withLockedTransfer(context, transfer, async (tx, locked) => {
    const current = locked.transfer;
    if (current.status === 'completed' || current.review === 'amount_mismatch') {
      const summary = `${current.network} now refuses a transfer that it had paid: ${failure.reason}`;
      const about = { ...current, transactionId: '' };
      await openTransferCase(tx, context, current, about, { kind: 'contradictory_outcome', summary });
      return;
    }
    // A network refuses only what it was sent.
    if (current.status !== 'pending' || current.progress === 'created') return;
    await bookReleased(tx, context, locked);
    uncountTransfer(tx, current);
    noteTransfer(tx, context, current, 'released', `${moneyText(current)} and the fee are back.`);
    await changeTransfer(tx, context, locked, {
      status: 'failed',
      progress: 'final',
      waitingFor: null,
      review: null,
      failureCode: failure.code,
      failureReason: failure.reason,
    });
  });
}
