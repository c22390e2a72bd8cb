import type { StatementAccount } from './account.ts';
import type { DifferenceClass } from './compare.ts';
import type { DayBounds } from './load-compared.ts';

/** A day with its bounds. */
export interface Day extends DayBounds {
  day: string;
}

/** What comparing a day found. Amounts are bututs. */
export interface DayTotals {
  matched: bigint;
  inTransit: bigint;
  differences: Partial<Record<DifferenceClass, number>>;
  listedMinor: bigint;
  listedAtStartMinor: bigint;
}

/** What one run has and knows while it goes through a day. */
export interface Run extends Day {
  account: StatementAccount;
  /** Movements before this time would be in the statement by now. */
  coveredUntil: Date;
  totals: DayTotals;
  casesLeft: number;
}
