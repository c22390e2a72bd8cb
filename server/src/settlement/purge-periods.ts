import { addMs, dayMs, utcDay, type Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { deletePeriodsBefore, deleteRunsBefore, listMerchantsWithOldPeriods } from './queries.ts';

// Longer than an operator makes up for a missed period. The payouts themselves stay.
const retentionMs = 400 * dayMs;

/** The oldest period with its results. Whether an older one was paid out is no longer recorded. */
export function oldestRetainedPeriod(now: Date): string {
  return utcDay(addMs(now, -retentionMs));
}

/** Deletes the results of older periods, one batch of each merchant with the oldest. Returns how many rows it deleted. */
export async function purgePeriods({ db, clock }: { db: Queryable; clock: Clock }): Promise<number> {
  const before = oldestRetainedPeriod(clock.now());
  let count = 0;
  for (const merchantId of await listMerchantsWithOldPeriods(db, before)) {
    count += await deletePeriodsBefore(db, merchantId, before);
    count += await deleteRunsBefore(db, merchantId, before);
  }
  return count;
}
