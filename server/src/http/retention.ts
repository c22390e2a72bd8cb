import { addMs } from '../kit/clock.ts';
import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { deleteKeysBefore, forgetResponsesBefore } from './queries.ts';

/** docs/api.md, "Idempotency": a stored answer is replayed for 72 hours. */
const retentionMs = 72 * 60 * 60 * 1_000;

/**
 * Forgets answers that are no longer kept, and deletes their keys; but a key that paid out stands for its transfer for
 * ever, so that it never pays again. Answers how many rows it touched.
 */
export async function purgeIdempotencyKeys(db: Queryable, clock: Clock): Promise<number> {
  const before = addMs(clock.now(), -retentionMs);
  return (await deleteKeysBefore(db, before)) + (await forgetResponsesBefore(db, before));
}
