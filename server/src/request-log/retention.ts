import { addMs, dayMs } from '../kit/clock.ts';
import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { firstIdAt } from '../kit/ids.ts';
import { deleteRequestsBefore, listMerchantsWithOldRequests } from './queries.ts';

const retentionMs = 30 * dayMs;

/** Deletes requests older than thirty days, a batch for each of a few merchants, and returns how many. */
export async function purgeRequests({ db, clock }: { db: Queryable; clock: Clock }): Promise<number> {
  const beforeId = firstIdAt(addMs(clock.now(), -retentionMs));
  let count = 0;
  for (const merchantId of await listMerchantsWithOldRequests(db, beforeId)) {
    count += await deleteRequestsBefore(db, merchantId, beforeId);
  }
  return count;
}
