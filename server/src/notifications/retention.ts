import { addMs } from '../kit/clock.ts';
import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { firstIdAt } from '../kit/ids.ts';
import { thirteenMonthsMs, thirtyDaysMs } from '../kit/retention-periods.ts';
import { deleteOldChatMessages, deleteOldNotices, listMerchantsWithOldNotices } from './queries/retention.ts';

interface RetentionContext {
  db: Queryable;
  clock: Clock;
}

/**
 * Deletes notices to staff that are older than thirteen months, a batch of a few merchants at a time; but none that is
 * still to be sent. Answers how many went.
 */
export async function purgeNotices({ db, clock }: RetentionContext): Promise<number> {
  const beforeId = firstIdAt(addMs(clock.now(), -thirteenMonthsMs));
  let count = 0;
  for (const merchantId of await listMerchantsWithOldNotices(db, beforeId)) {
    count += await deleteOldNotices(db, merchantId, beforeId);
  }
  return count;
}

/** Deletes what the simulated phones of staff were sent longer ago than thirty days, a batch at a time. */
export function purgeChatMessages({ db, clock }: RetentionContext): Promise<number> {
  return deleteOldChatMessages(db, addMs(clock.now(), -thirtyDaysMs));
}
