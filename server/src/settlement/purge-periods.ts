import { addMs, utcDay } from '../kit/clock.ts';
import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { thirteenMonthsMs } from '../kit/retention-periods.ts';
import { deletePeriodsBefore, deleteRunsBefore } from './queries.ts';

// Longer than anybody makes up for a period that was missed. The payouts themselves stay.
const retentionMs = thirteenMonthsMs;

/** The oldest period that is remembered. For an older one nobody knows any more whether it was paid out. */
export function oldestRetainedPeriod(now: Date): string {
  return utcDay(addMs(now, -retentionMs));
}

/** Forgets what older periods did, a batch at a time. Answers how many rows it removed. */
export async function purgePeriods({ db, clock }: { db: Queryable; clock: Clock }): Promise<number> {
  const before = oldestRetainedPeriod(clock.now());
  return (await deletePeriodsBefore(db, before)) + (await deleteRunsBefore(db, before));
}
