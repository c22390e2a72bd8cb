import { addMs } from '../kit/clock.ts';
import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { deleteKeysBefore } from './queries.ts';

/** Decisions, "Idempotency": a stored answer is replayed for 72 hours. */
const keptMs = 72 * 60 * 60 * 1_000;
// Small, so that a purge never holds rows that requests wait for.
const rowsMax = 500;

/** Deletes idempotency keys whose answers are no longer kept; answers how many went. */
export function purgeIdempotencyKeys(db: Queryable, clock: Clock): Promise<number> {
  return deleteKeysBefore(db, addMs(clock.now(), -keptMs), rowsMax);
}
