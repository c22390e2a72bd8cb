import type { JsonRecord } from '../events/kinds.ts';
import { listEventsOfObjects } from '../events/list-events.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import type { TransferContext } from './context.ts';
import { insertTransferNote, listNotesOfTransfer } from './queries/transfer-notes.ts';
import { transferKinds, type Transfer } from './transfer.ts';

/** What the timeline shows beside the events, such as the requests to the network. */
type TransferNoteKind =
  | 'waiting'
  | 'sent_to_network'
  | 'sent_again'
  | 'restored'
  | 'accepted_by_network'
  | 'no_clear_answer'
  | 'released'
  | 'late_success'
  | 'review'
  | 'case_resolved';

/** Written with the transaction. `detail` is a sentence without secrets or full numbers. */
export function noteTransfer(
  tx: Transaction,
  { clock, newId }: Pick<TransferContext, 'clock' | 'newId'>,
  { merchantId, id: transferId }: Pick<Transfer, 'merchantId' | 'id'>,
  kind: TransferNoteKind,
  detail: string,
): void {
  tx.send(insertTransferNote({ merchantId, transferId, id: newId(), kind, detail, createdAt: clock.now() }));
}

/** The history of a transfer, oldest first: its events and notes. */
export async function transferTimeline(db: Queryable, transfer: Transfer): Promise<JsonRecord[]> {
  const { merchantId, id } = transfer;
  const events = await listEventsOfObjects(db, merchantId, [id]);
  const notes = await listNotesOfTransfer(db, merchantId, id);
  const entries = [
    ...acceptance(transfer),
    ...events.map(({ createdAt, id: entryId, kind, record }) => ({
      at: createdAt,
      id: entryId,
      kind: kind as string,
      detail: eventDetail(kind, record),
    })),
    ...notes.map((note) => ({ at: note.createdAt, id: note.id, kind: note.kind, detail: note.detail })),
  ];
  // Ids of version 7 also order entries of the same millisecond.
  return entries
    .toSorted((left, right) => left.at.getTime() - right.at.getTime() || (left.id < right.id ? -1 : 1))
    .map(({ at, kind, detail }) => ({ at: at.toISOString(), kind, detail }));
}

/** The first entry of a kind without an event for it. */
function acceptance({ kind, id, createdAt }: Transfer): { at: Date; id: string; kind: string; detail: string }[] {
  if (transferKinds[kind].events.accepted !== null) return [];
  return [{ at: createdAt, id, kind: 'accepted', detail: 'The payout was accepted and its money is held.' }];
}

/** With what was never paid: the record has one amount for both. */
function partReversed({ amount_reversed: amount, currency }: JsonRecord): string {
  const without = `${String(currency)} ${String(amount)}`;
  return `The network reversed a part of the transfer. The beneficiary does not have ${without} of it in total so far.`;
}

function succeeded({ amount_reversed: unpaid, currency }: JsonRecord): string {
  if (typeof unpaid !== 'number') return 'The beneficiary has the money.';
  const without = `${String(currency)} ${unpaid}`;
  return `The beneficiary has the money without ${without}, which the network did not pay, or took back.`;
}

function eventDetail(kind: string, record: JsonRecord): string {
  switch (kind) {
    case 'transfer.created':
      return 'The transfer was accepted and its money is held.';
    case 'transfer.succeeded':
    case 'sub_account.payout.succeeded':
      return succeeded(record);
    case 'transfer.failed':
    case 'sub_account.payout.failed':
      return typeof record['failure_reason'] === 'string' ? record['failure_reason'] : 'The transfer failed.';
    case 'transfer.cancelled':
      return 'The transfer was cancelled before it was sent. The money was released.';
    case 'transfer.reversed':
      return record['status'] === 'completed' ? partReversed(record) : 'The network reversed the transfer.';
    default:
      return kind;
  }
}
