import { addMs, dayMs } from '../kit/clock.ts';
import type { RailAccount } from '../rail-accounts/rail-account.ts';
import type { DifferenceClass } from './compare.ts';

/** The result of a rail account's day. Amounts are bututs. */
export interface ReconciledDay {
  id: string;
  railAccount: string;
  day: string;
  /** The merchant whose own account it is; null for the operator's. */
  ownerId: string | null;
  testMode: boolean;
  currency: string;
  lines: bigint;
  /** Records with lines on this day that agree on all sides. */
  matched: bigint;
  /** Records whose line may come with the next statement. */
  inTransit: bigint;
  /** The differences that the day's lines and movements show. */
  differences: Partial<Record<DifferenceClass, number>>;
  /** Balances that do not follow from the line before. */
  gaps: bigint;
  statementChangeMinor: bigint;
  /** Null where the statement has no balances. */
  statementClosingMinor: bigint | null;
  ledgerChangeMinor: bigint;
  ledgerClosingMinor: bigint;
  /** What stood on the account before the first reconciled day and not in the ledger. */
  openingDifferenceMinor: bigint;
  /** What is listed as differing or in transit, up to the end of the day. */
  listedMinor: bigint;
  /** What nothing explains: 0 proves the float. Null without a closing balance. */
  unexplainedMinor: bigint | null;
  ranAt: Date;
}

/** By the newest day of each account, until when one is reconciled: from when it was added, where it never was. */
export function reconciledUntil(
  newest: readonly Pick<ReconciledDay, 'railAccount' | 'day'>[],
): (account: Pick<RailAccount, 'name' | 'createdAt'>) => Date {
  const ends = new Map(newest.map(({ railAccount, day }) => [railAccount, addMs(new Date(day), dayMs)]));
  return ({ name, createdAt }) => ends.get(name) ?? createdAt;
}

/** The proof of a float: the network's balance, less the ledger's, less all that is listed. */
export function unexplained({
  statementClosingMinor,
  ledgerClosingMinor,
  openingDifferenceMinor,
  listedMinor,
}: Pick<ReconciledDay, 'statementClosingMinor' | 'ledgerClosingMinor' | 'openingDifferenceMinor' | 'listedMinor'>):
  | bigint
  | null {
  if (statementClosingMinor === null) return null;
  return statementClosingMinor - ledgerClosingMinor - openingDifferenceMinor - listedMinor;
}
