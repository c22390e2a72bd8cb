import { addMs, dayMs, type Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { firstIdAt } from '../kit/ids.ts';
import { deleteOldChatMessages, deleteOldNotices, listMerchantsWithOldNotices } from './queries/retention.ts';

/** Thirteen months, whichever they are (docs/operations.md, "Retention"). */
const noticeRetentionMs = 400 * dayMs;
const chatMessageRetentionMs = 30 * dayMs;

/**
 * Deletes notices to staff that are older than thirteen months, except those still to be sent: a batch for each of a few
 * merchants. Returns how many.
 */
export async function purgeNotices({ db, clock }: { db: Queryable; clock: Clock }): Promise<number> {
  const beforeId = firstIdAt(addMs(clock.now(), -noticeRetentionMs));
  let count = 0;
  for (const merchantId of await listMerchantsWithOldNotices(db, beforeId)) {
    count += await deleteOldNotices(db, merchantId, beforeId);
  }
  return count;
}

/** Deletes a batch of messages on simulated phones of staff that are older than thirty days. Returns how many. */
export function purgeChatMessages({ db, clock }: { db: Queryable; clock: Clock }): Promise<number> {
  return deleteOldChatMessages(db, addMs(clock.now(), -chatMessageRetentionMs));
}
