import { finderOf } from '../../api/find-record.ts';
import type { Queryable } from '../../kit/db.ts';

/** How often the hosted page of a payment was opened. */
export interface PageViews {
  views: bigint;
  firstViewedAt: Date;
  lastViewedAt: Date;
}

/** Counts one view. */
export async function upsertPageView(
  db: Queryable,
  { merchantId, intentId }: { merchantId: string; intentId: string },
  now: Date,
): Promise<void> {
  await db.run({
    name: 'payment_page_views_upsert',
    text: `INSERT INTO payment_page_views (merchant_id, intent_id, views, first_viewed_at, last_viewed_at)
           VALUES ($1, $2, 1, $3, $3)
           ON CONFLICT (merchant_id, intent_id)
           DO UPDATE SET views = payment_page_views.views + 1, last_viewed_at = EXCLUDED.last_viewed_at`,
    values: [merchantId, intentId, now],
  });
}

/** Undefined for a page that nobody has opened. */
export const findPageViews = finderOf<PageViews>({
  name: 'payment_page_views_find',
  text: `SELECT views, first_viewed_at AS "firstViewedAt", last_viewed_at AS "lastViewedAt"
         FROM payment_page_views WHERE merchant_id = $1 AND intent_id = $2`,
});
