import type { Transaction } from '../kit/db.ts';
import type { TransferContext } from './context.ts';
import { insertTransferNote } from './queries.ts';
import type { Transfer } from './transfer.ts';

/** What passed between us and a network, for the timeline. */
export type TransferNoteKind =
  | 'waiting'
  | 'sent_to_network'
  | 'sent_again'
  | 'accepted_by_network'
  | 'no_clear_answer'
  | 'released'
  | 'late_success'
  | 'review'
  | 'case_resolved';

/** Written with the transaction. `detail` is a sentence without secrets or full numbers. */
export function noteTransfer(
  tx: Transaction,
  context: Pick<TransferContext, 'clock' | 'newId'>,
  transfer: Pick<Transfer, 'merchantId' | 'id'>,
  kind: TransferNoteKind,
  detail: string,
): void {
  const { merchantId, id: transferId } = transfer;
  const createdAt = context.clock.now();
  tx.send(insertTransferNote({ merchantId, transferId, id: context.newId(), kind, detail, createdAt }));
}
