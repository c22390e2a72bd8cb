import type { Queryable } from '../kit/db.ts';
import { listOpenItems } from './queries/clearing.ts';
import type { OpenItem } from './queries/clearing.ts';

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
  oldest: Date;
}

// With more open items than this the oldest are the ones that somebody has to look at.
const itemsMax = 10_000;

/** What waits in the clearing accounts, by its cause; the oldest first. */
export async function readClearing(db: Queryable): Promise<ClearingGroup[]> {
  const groups = new Map<string, ClearingGroup>();
  for (const { account, testMode, cause: known, amountMinor, since } of await listOpenItems(db, itemsMax)) {
    const cause = known ?? unexplained;
    const key = `${account} ${testMode} ${cause}`;
    const group = groups.get(key) ?? { account, testMode, cause, count: 0, amountMinor: 0n, oldest: since };
    groups.set(key, { ...group, count: group.count + 1, amountMinor: group.amountMinor + amountMinor });
  }
  return [...groups.values()];
}
