import { addMs, dayMs } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { listOpenItems, type OpenItem } from './queries/clearing.ts';

export type { OpenItem } from './queries/clearing.ts';

/** The accounts that have to be empty in the end. */
export const clearingAccounts = ['suspense', 'unmatched', 'held'] as const;

/** The cause of an item that nothing explains. */
export const unexplained = 'unexplained';

/** Open items of one account and environment with the same cause, together. */
export interface ClearingGroup {
  account: OpenItem['account'];
  testMode: boolean;
  cause: string;
  count: number;
  amountMinor: bigint;
  /** What has waited for more than four days of it. */
  lateMinor: bigint;
  oldest: Date;
}

// With more open items than this the oldest are the ones that somebody has to look at.
const itemsMax = 10_000;
// Longer than a weekend with a holiday: what is younger is on its way.
const clearedWithinMs = 4 * dayMs;

/** What waits in the clearing accounts, by its cause; the oldest first. */
export async function readClearing(db: Queryable, now: Date): Promise<ClearingGroup[]> {
  const groups = new Map<string, ClearingGroup>();
  const lateBefore = addMs(now, -clearedWithinMs);
  for (const { account, testMode, cause: known, amountMinor, since } of await listOpenItems(db, itemsMax)) {
    const cause = known ?? unexplained;
    const key = `${account} ${testMode} ${cause}`;
    const group = groups.get(key) ?? {
      account,
      testMode,
      cause,
      count: 0,
      amountMinor: 0n,
      lateMinor: 0n,
      oldest: since,
    };
    const lateMinor = group.lateMinor + (since < lateBefore ? amountMinor : 0n);
    groups.set(key, { ...group, count: group.count + 1, amountMinor: group.amountMinor + amountMinor, lateMinor });
  }
  return [...groups.values()];
}
