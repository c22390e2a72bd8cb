import type { Queryable } from '../../kit/db.ts';
import { rowsBy } from '../../kit/run-statement.ts';
import type { Figures } from '../figures.ts';

/** What the rows of totals are divided by. */
export interface TotalsKeys {
  byDay: boolean;
  byMerchant: boolean;
  byNetwork: boolean;
}

/** The figures of one day, merchant and network, or of all where they are not divided; then the key is empty. */
export interface TotalsRow extends Figures {
  day: string;
  merchantId: string;
  network: string;
}

/** The last day of each merchant that is rolled up. */
export interface RolledTo {
  merchantId: string;
  day: string;
}

/** What is rolled up of several merchants, each from `from` up to its own last day. */
export function sumDailyOfMerchants(
  db: Queryable,
  { byDay, byMerchant, byNetwork }: TotalsKeys,
  { rolled, from, network }: { rolled: readonly RolledTo[]; from: string; network: string | null },
): Promise<TotalsRow[]> {
  const keys = [byDay && 'day', byMerchant && 'merchant', byNetwork && 'network'].filter((key) => key !== false);
  return db.rows<TotalsRow>({
    name: `daily_figures_sum_of_merchants_by_${keys.join('_') || 'nothing'}`,
    text: `-- across merchants: the operator's totals of all
           SELECT ${byDay ? 'day::text' : `''`} AS day, ${byMerchant ? 'merchant_id::text' : `''`} AS "merchantId",
             ${byNetwork ? 'key' : `''`} AS network,
             sum(collected)::bigint AS "collectedMinor", sum(collected_count)::bigint AS "collectedCount",
             sum(direct)::bigint AS "directMinor", sum(direct_count)::bigint AS "directCount",
             sum(direct_back)::bigint AS "directBackMinor",
             sum(unpaid_count)::bigint AS "unpaidCount", sum(reversed)::bigint AS "reversedMinor",
             sum(paid_out)::bigint AS "paidOutMinor", sum(paid_out_count)::bigint AS "paidOutCount",
             sum(refunded)::bigint AS "refundedMinor", sum(refunded_count)::bigint AS "refundedCount",
             sum(returned)::bigint AS "returnedMinor", sum(fees)::bigint AS "feesMinor"
           FROM unnest($1::uuid[], $2::date[]) AS rolled (id, last_day)
           JOIN daily_figures ON merchant_id = rolled.id AND dimension = 'network' AND day >= $3::date AND day <= last_day
           WHERE $4::text IS NULL OR key = $4
           GROUP BY 1, 2, 3`,
    values: [rolled.map(({ merchantId }) => merchantId), rolled.map(({ day }) => day), from, network],
  });
}

/** The first day of each merchant that is not rolled up; a merchant before its first roll-up has no row. */
export const listNextDays = rowsBy<{ id: string; day: string }, [merchantIds: readonly string[]]>({
  name: 'daily_figure_progress_of_merchants',
  text: `-- across merchants: the operator's totals of all
         SELECT merchant_id AS id, next_day::text AS day FROM daily_figure_progress WHERE merchant_id = ANY ($1::uuid[])`,
});

/** Of these merchants those with a movement or a payment of such an id or a later one, or with a payment that ended unpaid since. */
export const listActiveMerchants = rowsBy<
  { id: string },
  [{ merchantIds: readonly string[]; from: Date; movementId: string; intentId: string }]
>({
  name: 'reports_active_merchants',
  text: `-- across merchants: the operator's totals of all
         SELECT merchant_places.merchant_id AS id FROM merchant_places
         WHERE merchant_places.merchant_id = ANY ($1::uuid[]) AND (
           EXISTS (SELECT FROM ledger_movements
                   WHERE ledger_movements.merchant_id = merchant_places.merchant_id AND ledger_movements.id >= $2)
           OR EXISTS (SELECT FROM payment_intents
                      WHERE payment_intents.merchant_id = merchant_places.merchant_id AND payment_intents.id >= $3)
           OR EXISTS (SELECT FROM payment_intents
                      WHERE payment_intents.merchant_id = merchant_places.merchant_id AND payment_intents.unpaid_at >= $4)
         )`,
  values: ({ merchantIds, from, movementId, intentId }) => [merchantIds, movementId, intentId, from],
});
