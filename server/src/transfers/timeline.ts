import type { JsonRecord } from '../events/kinds.ts';
import { listEventsOfObjects } from '../events/list-events.ts';
import type { Queryable } from '../kit/db.ts';
import { listNotesOfTransfer } from './queries.ts';
import { transferKinds } from './transfer-kinds.ts';
import type { Transfer } from './transfer.ts';

/** What happened to a transfer, oldest first: its events and what passed between us and its network. */
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
  // Ids of version 7 also order what happened within one millisecond.
  return entries
    .toSorted((left, right) => left.at.getTime() - right.at.getTime() || (left.id < right.id ? -1 : 1))
    .map(({ at, kind, detail }) => ({ at: at.toISOString(), kind, detail }));
}

/** How it begins where no event tells of that. */
function acceptance({ kind, id, createdAt }: Transfer): { at: Date; id: string; kind: string; detail: string }[] {
  if (transferKinds[kind].events.accepted !== null) return [];
  return [{ at: createdAt, id, kind: 'accepted', detail: 'The payout was accepted and its money is held.' }];
}

function partBack({ amount_reversed: amount, currency }: JsonRecord): string {
  return `The network gave a part of the money back; that makes ${String(currency)} ${String(amount)} so far.`;
}

function eventDetail(kind: string, record: JsonRecord): string {
  switch (kind) {
    case 'transfer.created':
      return 'The transfer was accepted and its money is held.';
    case 'transfer.succeeded':
    case 'sub_account.payout.succeeded':
      return 'The beneficiary has the money.';
    case 'transfer.failed':
    case 'sub_account.payout.failed':
      return typeof record['failure_reason'] === 'string' ? record['failure_reason'] : 'The transfer failed.';
    case 'transfer.cancelled':
      return 'The transfer was cancelled before it was sent. The money is free again.';
    case 'transfer.reversed':
      return record['status'] === 'completed' ? partBack(record) : 'The network gave the money back.';
    default:
      return kind;
  }
}
