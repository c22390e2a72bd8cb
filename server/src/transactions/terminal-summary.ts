import { fieldError } from '../api/app-error.ts';
import { addMs, dayMs } from '../kit/clock.ts';
import type { Database } from '../kit/db.ts';
import { amountToJson } from '../kit/money.ts';
import { endBefore } from '../kit/time-or-day.ts';
import { getTerminal } from '../terminals/manage-terminals.ts';
import { listTakings, type TakingsRow } from './queries.ts';

export { listTakingsOfLinks, listTakingsOfTerminals } from './queries.ts';

// A leap year. For a longer range, add up shorter ones.
const daysMax = 366;

/** `to` is excluded, so that the days of a month add up to the month. */
export interface SummaryRange {
  from: Date;
  to: Date;
}

/**
 * `to` defaults to now, and `from` to the beginning of the UTC day (the Gambian day) that contains the last moment before `to`.
 * Throws AppError `invalid_request` naming `from`.
 */
export function readRange(sent: { from?: string; to?: string }, now: Date): SummaryRange {
  const to = sent.to === undefined ? now : endBefore(sent.to);
  const last = sent.to === undefined ? now : addMs(to, -1);
  const from = sent.from === undefined ? addMs(last, -(last.getTime() % dayMs)) : new Date(sent.from);
  // The defaults are always valid: at midnight, today is empty.
  if (from >= to && sent.from !== undefined) {
    throw fieldError('invalid_request', 'from', 'from must be before to.');
  }
  if (to.getTime() - from.getTime() > daysMax * dayMs) {
    throw fieldError('invalid_request', 'from', `from and to are at most ${daysMax} days apart.`);
  }
  return { from, to };
}

/**
 * The totals of a counter. Each payment counts in the hour in which it was paid, even if it was refunded since; a completed
 * refund is subtracted from that same hour. What its network reversed of it does not count. Throws AppError `not_found`.
 */
export async function terminalSummary(
  db: Database,
  merchant: { id: string; currency: string },
  request: SummaryRange & { terminalId: string },
) {
  const { terminalId, from, to } = request;
  const { id } = await getTerminal(db, merchant.id, terminalId);
  const takings = await listTakings(db, merchant.id, { terminalId: id, from, to });
  const groups = (keyOf: (row: TakingsRow) => string) =>
    [...Map.groupBy(takings, keyOf)].map(([key, rows]) => ({ key, totals: totals(rows) }));
  return {
    terminal_id: id,
    from: from.toISOString(),
    to: to.toISOString(),
    currency: merchant.currency,
    ...totals(takings),
    by_method: groups(({ network }) => network)
      .toSorted((left, right) => (left.key < right.key ? -1 : 1))
      .map(({ key, totals: ofMethod }) => ({ payment_method: key, ...ofMethod })),
    by_hour: groups(({ hour }) => hour.toISOString()).map(({ key, totals: ofHour }) => ({ hour: key, ...ofHour })),
  };
}

function totals(rows: readonly TakingsRow[]) {
  const sum = (of: (row: TakingsRow) => bigint): bigint => rows.reduce((total, row) => total + of(row), 0n);
  const [paidMinor, refundedMinor] = [sum((row) => row.paidMinor), sum((row) => row.refundedMinor)];
  return {
    count: Number(sum(({ count }) => count)),
    sum: amountToJson(paidMinor - refundedMinor),
    amount_paid: amountToJson(paidMinor),
    amount_refunded: amountToJson(refundedMinor),
  };
}
