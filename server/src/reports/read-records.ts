import { addMs, dayMs } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import { isTime } from '../kit/time-or-day.ts';
import { intentRange, movementRange, type Owner } from './live-figures.ts';
import {
  listRecords,
  listUnpaidRecords,
  type RecordFilter,
  type RecordRow,
  type UnpaidRecord,
} from './queries/records.ts';

import type { MoneyFigure } from './queries/moved.ts';

export type { RecordFilter } from './queries/records.ts';

export type FigureName = MoneyFigure | 'unpaid';

/** A payment, transfer or refund behind a figure. */
export interface FigureRecord {
  /** What it is found by. */
  record: 'payments' | 'transfers' | 'refunds' | null;
  id: string;
  at: Date;
  /** In bututs: what of it is in the figure; of an unpaid payment, what was to be paid. */
  amountMinor: bigint;
  reference: string | null;
  /** The title of the payment, or who got the transfer. */
  name: string | null;
  network: string;
}

export interface FigureRecords {
  /** Newest first. */
  records: FigureRecord[];
  /** Of the whole day, as the figure says. */
  totalCount: bigint;
  totalMinor: bigint;
  nextCursor: string | null;
}

/** The records behind a figure of one day, newest first: what they sum up to is the figure. */
export async function readRecords(
  db: Queryable,
  owner: Owner,
  figure: FigureName,
  query: { day: string; until: Date | null; filter: RecordFilter; cursor: string | null; rowsMax: number },
): Promise<FigureRecords> {
  const from = new Date(query.day);
  const end = addMs(from, dayMs);
  const range = { from, to: query.until && query.until < end ? query.until : end };
  const page = { filter: query.filter, after: readCursor(query.cursor), rowsMax: query.rowsMax + 1 };
  if (figure === 'unpaid') {
    const rows = await listUnpaidRecords(db, intentRange(owner, range), page);
    return pageOf(rows, query.rowsMax, { record: unpaidRecord, totalMinor: 0n });
  }
  const rows = await listRecords(db, figure, movementRange(owner, range), page);
  return pageOf(rows, query.rowsMax, { record: movedRecord, totalMinor: rows[0]?.totalMinor ?? 0n });
}

function pageOf<Row extends { totalCount: bigint }>(
  rows: readonly Row[],
  rowsMax: number,
  { record, totalMinor }: { record: (row: Row) => FigureRecord & { cursorId: string }; totalMinor: bigint },
): FigureRecords {
  const shown = rows.slice(0, rowsMax).map(record);
  const last = shown.at(-1);
  return {
    records: shown,
    totalCount: rows[0]?.totalCount ?? 0n,
    totalMinor,
    nextCursor: rows.length > rowsMax && last ? `${last.at.toISOString()}_${last.cursorId}` : null,
  };
}

function unpaidRecord({ id, at, amountMinor, name, network }: UnpaidRecord): FigureRecord & { cursorId: string } {
  return { record: 'payments', id, cursorId: id, at, amountMinor, name, network, reference: null };
}

function movedRecord(row: RecordRow): FigureRecord & { cursorId: string } {
  const { intentId, sourceId, kind, at, amountMinor, reference, name, network } = row;
  const found = { cursorId: sourceId, at, amountMinor, reference, name, network };
  if (intentId !== null) return { ...found, record: 'payments', id: intentId };
  if (kind === null) return { ...found, record: null, id: sourceId };
  return { ...found, record: kind === 'refund' ? 'refunds' : 'transfers', id: sourceId };
}

/** Null for anything but a cursor of ours: the list begins again. */
function readCursor(cursor: string | null): { at: Date; id: string } | null {
  const [time = '', id = ''] = (cursor ?? '').split('_');
  return isTime(time) && isUuid(id) ? { at: new Date(time), id } : null;
}
