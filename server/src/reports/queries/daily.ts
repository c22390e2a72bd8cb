import type { Queryable, Statement } from '../../kit/db.ts';
import { rowsBy, statementBy, valueBy } from '../../kit/run-statement.ts';
import { sweepMerchants } from '../../kit/sweep.ts';
import { placeholders } from '../../kit/placeholders.ts';
import type { CollectedFigure, Dimension, Figures } from '../figures.ts';

const figureColumns = [
  'collected',
  'collected_count',
  'direct',
  'direct_count',
  'direct_back',
  'unpaid_count',
  'reversed',
  'paid_out',
  'paid_out_count',
  'refunded',
  'refunded_count',
  'returned',
  'fees',
] as const;

const figureSelection = `collected AS "collectedMinor", collected_count AS "collectedCount", direct AS "directMinor",
  direct_count AS "directCount", direct_back AS "directBackMinor", unpaid_count AS "unpaidCount",
  reversed AS "reversedMinor", paid_out AS "paidOutMinor", paid_out_count AS "paidOutCount", refunded AS "refundedMinor",
  refunded_count AS "refundedCount", returned AS "returnedMinor", fees AS "feesMinor"`;

/** A day's figures of one network, counter or link; `day` as `2026-11-24`. */
export interface DailyRow extends Figures {
  day: string;
  dimension: Dimension;
  key: string;
}

/** Both days included; with `key` only its own. */
export const listDaily = rowsBy<
  DailyRow,
  [query: { merchantId: string; dimension: Dimension; from: string; to: string; key: string | null }]
>({
  name: 'daily_figures_list',
  text: `SELECT day::text AS day, dimension, key, ${figureSelection} FROM daily_figures
         WHERE merchant_id = $1 AND dimension = $2 AND day >= $3::date AND day <= $4::date
           AND ($5::text IS NULL OR key = $5)`,
  values: (query) => [query.merchantId, query.dimension, query.from, query.to, query.key],
});

/** What was collected by counter or link, both days included. */
export const sumDailyByKey = rowsBy<
  Pick<DailyRow, 'key' | CollectedFigure>,
  [query: { merchantId: string; dimension: Dimension; from: string; to: string }]
>({
  name: 'daily_figures_sum_by_key',
  text: `SELECT key, sum(collected)::bigint AS "collectedMinor", sum(collected_count)::bigint AS "collectedCount",
           sum(direct)::bigint AS "directMinor", sum(direct_count)::bigint AS "directCount",
           sum(direct_back)::bigint AS "directBackMinor", sum(unpaid_count)::bigint AS "unpaidCount"
         FROM daily_figures
         WHERE merchant_id = $1 AND dimension = $2 AND day >= $3::date AND day <= $4::date GROUP BY key`,
  values: (query) => [query.merchantId, query.dimension, query.from, query.to],
});

export function insertDaily(merchantId: string, rows: readonly DailyRow[]): Statement {
  const columns = 4 + figureColumns.length;
  return {
    name: `daily_figures_insert_${rows.length}`,
    text: `INSERT INTO daily_figures (merchant_id, day, dimension, key, ${figureColumns.join(', ')})
           VALUES ${placeholders(rows.length, columns)}`,
    values: rows.flatMap((row) => [
      merchantId,
      row.day,
      row.dimension,
      row.key,
      row.collectedMinor,
      row.collectedCount,
      row.directMinor,
      row.directCount,
      row.directBackMinor,
      row.unpaidCount,
      row.reversedMinor,
      row.paidOutMinor,
      row.paidOutCount,
      row.refundedMinor,
      row.refundedCount,
      row.returnedMinor,
      row.feesMinor,
    ]),
  };
}

/** The first day that is not rolled up; undefined before the first roll-up. */
export const findNextDay = valueBy<string | undefined, [merchantId: string]>({
  name: 'daily_figure_progress_find',
  text: 'SELECT next_day::text AS value FROM daily_figure_progress WHERE merchant_id = $1',
  none: undefined,
});

/** As `findNextDay`, locked until the transaction ends: days are rolled up one after another. */
export const lockNextDay = valueBy<string | undefined, [merchantId: string]>({
  name: 'daily_figure_progress_lock',
  text: 'SELECT next_day::text AS value FROM daily_figure_progress WHERE merchant_id = $1 FOR UPDATE',
  none: undefined,
});

export const insertProgressOnce = statementBy<[merchantId: string, nextDay: string]>({
  name: 'daily_figure_progress_insert',
  text: `INSERT INTO daily_figure_progress (merchant_id, next_day) VALUES ($1, $2::date)
         ON CONFLICT (merchant_id) DO NOTHING`,
});

export const updateProgress = statementBy<[merchantId: string, nextDay: string]>({
  name: 'daily_figure_progress_update',
  text: 'UPDATE daily_figure_progress SET next_day = $2::date WHERE merchant_id = $1',
});

export const deleteDaily = statementBy<[merchantId: string]>({
  name: 'daily_figures_delete',
  text: 'DELETE FROM daily_figures WHERE merchant_id = $1',
});

export const deleteProgress = statementBy<[merchantId: string]>({
  name: 'daily_figure_progress_delete',
  text: 'DELETE FROM daily_figure_progress WHERE merchant_id = $1',
});

/** When the merchant's first payment or movement was made; null without any. */
export const findFirstActivity = valueBy<Date | null, [merchantId: string]>({
  name: 'reports_first_activity',
  text: `SELECT LEAST(
           (SELECT created_at FROM payment_intents WHERE merchant_id = $1 ORDER BY id LIMIT 1),
           (SELECT created_at FROM ledger_movements WHERE merchant_id = $1 ORDER BY id LIMIT 1)
         ) AS value`,
  none: null,
});

/** Merchants with days before `closedBefore` that are not rolled up, in the order of their ids. */
export function listMerchantsToRollUp(
  db: Queryable,
  { closedBefore, after, rowsMax }: { closedBefore: string; after: string; rowsMax: number },
): Promise<{ id: string; currency: string }[]> {
  return sweepMerchants(db, {
    name: 'daily_figure_progress_due',
    text: `-- across merchants: a worker looks for every merchant with days to roll up
           SELECT merchants.id, merchants.currency
           FROM merchant_places JOIN merchants ON merchants.id = merchant_places.merchant_id
           WHERE merchant_places.merchant_id > $2 AND NOT EXISTS (
             SELECT 1 FROM daily_figure_progress
             WHERE daily_figure_progress.merchant_id = merchant_places.merchant_id AND next_day >= $1::date
           )
           ORDER BY merchants.id LIMIT $3`,
    values: [closedBefore, after, rowsMax],
  });
}

/** Names of counters and links, also of deleted ones. */
export const listNames = rowsBy<
  { id: string; name: string },
  [merchantId: string, { terminalIds: readonly string[]; paymentLinkIds: readonly string[] }]
>({
  name: 'reports_names',
  text: `SELECT id, name FROM virtual_terminals WHERE merchant_id = $1 AND id = ANY ($2::uuid[])
         UNION ALL
         SELECT id, title FROM payment_links WHERE merchant_id = $1 AND id = ANY ($3::uuid[])`,
  values: (merchantId, { terminalIds, paymentLinkIds }) => [merchantId, terminalIds, paymentLinkIds],
});
