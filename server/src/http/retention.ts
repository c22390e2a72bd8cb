import { addMs, type Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { deleteKeysThrough, forgetResponsesThrough, listMerchantsWithOldKeys } from './queries.ts';

/** docs/api.md, "Idempotency": a stored response is replayed for 72 hours. */
const retentionMs = 72 * 60 * 60 * 1_000;

/**
 * Deletes expired responses and their keys. A key that paid out keeps its transfer's id for ever, so that it never pays again.
 * One batch, of the merchants with the oldest keys. Returns how many rows it changed.
 */
export async function purgeIdempotencyKeys(db: Queryable, clock: Clock): Promise<number> {
  let count = 0;
  for (const { merchantId, through } of await listMerchantsWithOldKeys(db, addMs(clock.now(), -retentionMs))) {
    count += await deleteKeysThrough(db, merchantId, through);
    count += await forgetResponsesThrough(db, merchantId, through);
  }
  return count;
}
