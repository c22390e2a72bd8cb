import { addMs, dayMs, type Clock } from '../kit/clock.ts';
import type { Database, Transaction } from '../kit/db.ts';
import { firstIdAt } from '../kit/ids.ts';
import {
  deleteBodies,
  deleteRequestsBefore,
  deleteUnchanging,
  findTrimBatchEnd,
  listMerchantsToTrim,
  listMerchantsWithOldRequests,
  recordTrim,
  type TrimmedMerchant,
} from './queries.ts';

export { deleteBodiesOfRecords } from './queries.ts';

const bodyRetentionMs = 30 * dayMs;
/** As long as events, thirteen months: whoever has a request's id finds its record, and its event the request. */
const retentionMs = 400 * dayMs;

interface LogContext {
  db: Database;
  clock: Clock;
}

/**
 * Deletes requests older than thirteen months. Of those older than thirty days only the ones that changed something stay, without
 * their bodies. A batch for each of a few merchants; returns how many requests it has deleted and batches it has trimmed.
 */
export async function purgeRequests({ db, clock }: LogContext): Promise<number> {
  const beforeId = firstIdAt(addMs(clock.now(), -retentionMs));
  const trimmedBeforeId = firstIdAt(addMs(clock.now(), -bodyRetentionMs));
  let count = 0;
  for (const merchantId of await listMerchantsWithOldRequests(db, beforeId)) {
    count += await deleteRequestsBefore(db, merchantId, beforeId);
  }
  for (const merchant of await listMerchantsToTrim(db, trimmedBeforeId)) {
    count += await db.withTransaction((tx) => trimBatch(tx, merchant, trimmedBeforeId));
  }
  return count;
}

/** Returns 1 where there was a batch. */
async function trimBatch(tx: Transaction, merchant: TrimmedMerchant, beforeId: string): Promise<number> {
  const toId = await findTrimBatchEnd(tx, merchant, beforeId);
  if (toId === undefined) return 0;
  const range = { merchantId: merchant.merchantId, afterId: merchant.trimmedTo, toId };
  tx.send(deleteUnchanging(range));
  tx.send(deleteBodies(range));
  tx.send(recordTrim(range));
  return 1;
}
