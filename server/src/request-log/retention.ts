import { addMs, dayMs } from '../kit/clock.ts';
import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { firstIdAt } from '../kit/ids.ts';
import { deleteRequestsBefore } from './queries.ts';

const retentionMs = 30 * dayMs;

/** Deletes a batch of requests older than thirty days, and returns how many. */
export function purgeRequests({ db, clock }: { db: Queryable; clock: Clock }): Promise<number> {
  return deleteRequestsBefore(db, firstIdAt(addMs(clock.now(), -retentionMs)));
}
