import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { RecentCopy } from '../kit/recent-copy.ts';
import { findHeldRestore, type Restore } from './queries.ts';

export { findHeldRestore, insertRestore, releaseRestores } from './queries.ts';
export type { Restore } from './queries.ts';

/**
 * Whether this database is a restored copy that nobody has released. Until then nothing that is due is done: networks may know
 * of payouts that it does not.
 */
export interface RestoreHold {
  /** The restore, or null. Rejects when the database cannot say, and nothing may be done then either. */
  held(): Promise<Restore | null>;
}

/** Asks the database at most once a second, also while nothing is held: a database may be restored under processes that run on. */
export function createRestoreHold(db: Queryable, clock: Clock): RestoreHold {
  const copy = new RecentCopy<Restore | null>();
  return { held: () => copy.read(clock, async () => (await findHeldRestore(db)) ?? null) };
}

/** What a page, the log and an API response say about it. */
export function heldText({ restoredTo }: Pick<Restore, 'restoredTo'>): string {
  const state = restoredTo === null ? '' : ` (its newest change is of ${restoredTo.toISOString()})`;
  return `This database is a restored copy${state}: no payout, webhook or mail is sent before an operator releases it`;
}
