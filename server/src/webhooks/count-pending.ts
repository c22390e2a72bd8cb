import type { Queryable } from '../kit/db.ts';
import { countDueOrWaiting } from './queries/deliveries.ts';

/** Deliveries that are to be made or made again, of all merchants: what an operator watches. */
export function countPendingDeliveries(db: Queryable): Promise<number> {
  return countDueOrWaiting(db);
}
