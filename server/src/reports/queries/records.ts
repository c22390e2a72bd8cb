import type { Queryable } from '../../kit/db.ts';
import { rowsBy } from '../../kit/run-statement.ts';
import {
  endedUnpaid,
  isOfFigure,
  lastAttempt,
  movedBySource,
  rangeValues,
  recordsOfMoved,
  unpaidAt,
  unpaidValues,
  type MoneyFigure,
  type Range,
} from './moved.ts';

/** A record behind a figure. */
export interface RecordRow {
  sourceType: string;
  sourceId: string;
  at: Date;
  /** In bututs; null for an unpaid payment, whose amount did not move. */
  amountMinor: bigint;
  intentId: string | null;
  /** The kind of a transfer. */
  kind: string | null;
  reference: string | null;
  name: string | null;
  network: string;
  /** Of all records, not only of this page. */
  totalCount: bigint;
  totalMinor: bigint;
}

const amounts: Record<MoneyFigure, string> = {
  collected: 'collected',
  direct: 'direct',
  direct_back: 'direct_back',
  reversed: 'reversed',
  paid_out: `CASE WHEN kind <> 'refund' THEN paid ELSE 0 END`,
  refunded: `CASE WHEN kind = 'refund' THEN paid ELSE 0 END`,
  returned: 'returned',
  fees: 'fees',
};

/** What narrows a list of records; null is no filter. */
export interface RecordFilter {
  network: string | null;
  terminalId: string | null;
  paymentLinkId: string | null;
}

/** Which of a list of records, newest first: at most `rowsMax` after `after`. */
interface RecordPage {
  filter: RecordFilter;
  after: { at: Date; id: string } | null;
  rowsMax: number;
}

function pageValues({ filter, after, rowsMax }: RecordPage): unknown[] {
  const { network, terminalId, paymentLinkId } = filter;
  return [network, terminalId, paymentLinkId, after?.at ?? null, after?.id ?? null, rowsMax];
}

/** Every record whose amount in the range is not 0. */
export function listRecords(db: Queryable, figure: MoneyFigure, range: Range, page: RecordPage): Promise<RecordRow[]> {
  return db.rows<RecordRow>({
    name: `reports_records_${figure}`,
    text: `WITH moved AS (${movedBySource(`'-infinity'::timestamptz`, isOfFigure[figure])}), found AS (
             SELECT source_type, source_id, ended_at, (${amounts[figure]})::bigint AS amount, charge.intent_id,
               transfer.kind, COALESCE(charge.transaction_reference, transfer.reference) AS reference,
               COALESCE(intent.title, transfer.beneficiary_name) AS name,
               COALESCE(charge.network, transfer.network, '') AS network, intent.terminal_id, intent.payment_link_id
             FROM moved ${recordsOfMoved}
           ), matching AS (
             SELECT found.*, count(*) OVER () AS total_count, (sum(amount) OVER ())::bigint AS total FROM found
             WHERE amount <> 0 AND ($7::text IS NULL OR network = $7) AND ($8::uuid IS NULL OR terminal_id = $8)
               AND ($9::uuid IS NULL OR payment_link_id = $9)
           )
           SELECT source_type AS "sourceType", source_id AS "sourceId", ended_at AS at, amount AS "amountMinor",
             intent_id AS "intentId", kind, reference, name, network, total_count AS "totalCount", total AS "totalMinor"
           FROM matching
           WHERE $10::timestamptz IS NULL OR (ended_at, source_id) < ($10, $11::uuid)
           ORDER BY ended_at DESC, source_id DESC LIMIT $12`,
    values: [...rangeValues(range), ...pageValues(page)],
  });
}

/** An unpaid payment. */
export interface UnpaidRecord {
  id: string;
  at: Date;
  amountMinor: bigint;
  name: string | null;
  network: string;
  totalCount: bigint;
}

/** As `listUnpaid`, one by one. */
export const listUnpaidRecords = rowsBy<UnpaidRecord, [range: Range, page: RecordPage]>({
  name: 'reports_records_unpaid',
  text: `WITH found AS (
           SELECT id, ${unpaidAt} AS ended_at, amount, title, COALESCE(charge.network, '') AS network, terminal_id, payment_link_id
           FROM payment_intents ${lastAttempt}
           WHERE merchant_id = $1 AND ${endedUnpaid}
         ), matching AS (
           SELECT found.*, count(*) OVER () AS total_count FROM found
           WHERE ($6::text IS NULL OR network = $6) AND ($7::uuid IS NULL OR terminal_id = $7)
             AND ($8::uuid IS NULL OR payment_link_id = $8)
         )
         SELECT id, ended_at AS at, amount AS "amountMinor", title AS name, network, total_count AS "totalCount"
         FROM matching WHERE $9::timestamptz IS NULL OR (ended_at, id) < ($9, $10::uuid)
         ORDER BY ended_at DESC, id DESC LIMIT $11`,
  values: (range, page) => [...unpaidValues(range), ...pageValues(page)],
});
