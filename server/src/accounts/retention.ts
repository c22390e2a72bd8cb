import { addMs, type Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { purgeEndedLogins } from './queries.ts';

// Longer than any wait after wrong tries.
const attemptsRetentionMs = 24 * 3_600_000;
const batch = 500;

/** Deletes ended sessions, links that are too old, and old counts of wrong tries, some at a time. Returns how many. */
export function purgeLogins({ db, clock }: { db: Queryable; clock: Clock }): Promise<number> {
  const now = clock.now();
  return purgeEndedLogins(db, { now, before: addMs(now, -attemptsRetentionMs), limit: batch });
}
