import type { Queryable } from '../../kit/db.ts';
import type { EventToDispatch } from '../delivery.ts';

/** In the order in which they happened. */
export function listEventsToDispatch(
  db: Queryable,
  merchantId: string,
  ids: readonly string[],
): Promise<EventToDispatch[]> {
  return db.rows<EventToDispatch>({
    name: 'webhook_events_list_to_dispatch',
    text: `SELECT id, kind, callback_url AS "callbackUrl" FROM events
           WHERE merchant_id = $1 AND id = ANY ($2::uuid[]) ORDER BY id`,
    values: [merchantId, [...ids]],
  });
}
