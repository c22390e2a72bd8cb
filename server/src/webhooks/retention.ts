import { addMs, dayMs } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import { firstIdAt } from '../kit/ids.ts';
import type { WebhookContext } from './context.ts';
import {
  deleteDeliveriesOfEvents,
  deleteEvents,
  deleteOldAttempts,
  listMerchantsWithOldAttempts,
  listMerchantsWithOldEvents,
  lockDeliveriesOfEvents,
  lockOldEvents,
} from './queries/retention.ts';

/** Thirteen months, whichever they are (docs/operations.md, "Retention"). */
export const eventRetentionMs = 400 * dayMs;
const attemptRetentionMs = 30 * dayMs;

/**
 * Deletes events older than thirteen months with their deliveries, in batches of a few merchants; but none that is still to be
 * delivered. Returns how many events were deleted.
 */
export async function purgeEvents({ db, clock }: Pick<WebhookContext, 'db' | 'clock'>): Promise<number> {
  const beforeId = firstIdAt(addMs(clock.now(), -eventRetentionMs));
  let count = 0;
  for (const merchantId of await listMerchantsWithOldEvents(db, beforeId)) {
    count += await db.withTransaction((tx) => deleteBatch(tx, merchantId, beforeId));
  }
  return count;
}

/**
 * Deletes attempts older than thirty days, with the responses they got, in batches of a few merchants. Their deliveries stay.
 * Returns how many attempts were deleted.
 */
export async function purgeAttempts({ db, clock }: Pick<WebhookContext, 'db' | 'clock'>): Promise<number> {
  const before = addMs(clock.now(), -attemptRetentionMs);
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
  // An event may have been resent after it was found and before it was locked.
  const deliveries = await lockDeliveriesOfEvents(tx, merchantId, locked);
  const isPending = new Set(deliveries.filter(({ status }) => status === 'pending').map(({ eventId }) => eventId));
  const deletable = locked.filter((id) => !isPending.has(id));
  await deleteDeliveriesOfEvents(tx, merchantId, deletable);
  return deleteEvents(tx, merchantId, deletable);
}
