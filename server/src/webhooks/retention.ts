import { addMs } from '../kit/clock.ts';
import type { Clock } from '../kit/clock.ts';
import type { Database, Transaction } from '../kit/db.ts';
import { firstIdAt } from '../kit/ids.ts';
import { thirteenMonthsMs, thirtyDaysMs } from '../kit/retention-periods.ts';
import {
  deleteDeliveriesOfEvents,
  deleteEvents,
  deleteOldAttempts,
  listMerchantsWithOldAttempts,
  listMerchantsWithOldEvents,
  lockDeliveriesOfEvents,
  lockOldEvents,
} from './queries/retention.ts';

interface RetentionContext {
  db: Database;
  clock: Clock;
}

/**
 * Deletes events that are older than thirteen months, and their deliveries with them, a batch of a few merchants at a
 * time; but none that is still to be delivered. Answers how many events went.
 */
export async function purgeEvents({ db, clock }: RetentionContext): Promise<number> {
  const beforeId = firstIdAt(addMs(clock.now(), -thirteenMonthsMs));
  let count = 0;
  for (const merchantId of await listMerchantsWithOldEvents(db, beforeId)) {
    count += await db.withTransaction((tx) => deleteBatch(tx, merchantId, beforeId));
  }
  return count;
}

/**
 * Deletes what was answered to attempts longer ago than thirty days, a batch of a few merchants at a time. What became
 * of a delivery stays with its event. Answers how many attempts went.
 */
export async function purgeAttempts({ db, clock }: RetentionContext): Promise<number> {
  const before = addMs(clock.now(), -thirtyDaysMs);
  const old = { before, beforeDeliveryId: firstIdAt(before) };
  let count = 0;
  for (const merchantId of await listMerchantsWithOldAttempts(db, old)) {
    count += await deleteOldAttempts(db, merchantId, old);
  }
  return count;
}

async function deleteBatch(tx: Transaction, merchantId: string, beforeId: string): Promise<number> {
  const locked = await lockOldEvents(tx, merchantId, beforeId);
  if (locked.length === 0) return 0;
  // One may have been sent again after it was found and before it was locked.
  const deliveries = await lockDeliveriesOfEvents(tx, merchantId, locked);
  const isPending = new Set(deliveries.filter(({ status }) => status === 'pending').map(({ eventId }) => eventId));
  const ended = locked.filter((id) => !isPending.has(id));
  await deleteDeliveriesOfEvents(tx, merchantId, ended);
  return deleteEvents(tx, merchantId, ended);
}
