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

const copyMs = 1_000;

/** Asks the database at most once a second, and never again after the release: a running database is not restored. */
export function createRestoreHold(db: Queryable, clock: Clock): RestoreHold {
  const copy = new RecentCopy<Restore | null>(copyMs);
  let isReleased = false;
  return {
    held: async () => {
      if (isReleased) return null;
      const restore = await copy.read(clock, async () => (await findHeldRestore(db)) ?? null);
      isReleased = restore === null;
      return restore;
    },
  };
}

/** What a page, the log and an API response say about it. */
export function heldText({ restoredTo }: Pick<Restore, 'restoredTo'>): string {
  const state = restoredTo === null ? '' : ` (its newest change is of ${restoredTo.toISOString()})`;
  return `This database is a restored copy${state}: no payout, webhook or mail is sent before an operator releases it`;
}
