import type { Queryable } from '../kit/db.ts';
import { firstIdAt } from '../kit/ids.ts';
import { debitSign } from './accounts.ts';
import type { Account } from './accounts.ts';
import { lastId, listMovementsBehind } from './queries/history.ts';
import type { HistoryRow } from './queries/history.ts';

/** One movement behind a balance. */
export interface BalanceLine {
  id: string;
  at: Date;
  /** The rule that moved the money, as docs/ledger.md names it. */
  flow: string;
  source: { type: string; id: string };
  /** What it did to the account, in bututs: below zero where it took something. */
  changeMinor: bigint;
  /** What the account had after it. */
  balanceMinor: bigint;
}

export interface ExplainedBalance {
  /** At the moment that was asked about, in bututs. */
  balanceMinor: bigint;
  /** The newest first; one more than the limit where older ones are left. */
  lines: BalanceLine[];
}

/**
 * Why an account had what it had at `at` (null is now): its movements, the newest first, each with the balance after it.
 * `before` is the last line of the page before.
 */
export async function explainBalance(
  db: Queryable,
  query: {
    merchantId: string;
    account: Account;
    currency: string;
    at: Date | null;
    before: string | null;
    rowsMax: number;
  },
): Promise<ExplainedBalance> {
  const rows = await listMovementsBehind(db, {
    ...query,
    before: query.before ?? lastId,
    laterFrom: firstLaterId(query),
  });
  const [first] = rows;
  const creditSign = -debitSign(query.account);
  const storedMinor = BigInt(first?.stored ?? '0');
  let balanceMinor = storedMinor - creditSign * BigInt(first?.creditedLater ?? '0');
  const atMinor = storedMinor - creditSign * BigInt(first?.creditedAfter ?? '0');
  const explained: ExplainedBalance = { balanceMinor: atMinor, lines: [] };
  for (const row of rows) {
    if (row.id === null) continue;
    const changeMinor = creditSign * row.credited;
    explained.lines.push({ ...lineOf(row), changeMinor, balanceMinor });
    balanceMinor -= changeMinor;
  }
  return explained;
}

export function lineOf({
  id,
  at,
  flow,
  sourceType,
  sourceId,
}: HistoryRow): Omit<BalanceLine, 'changeMinor' | 'balanceMinor'> {
  return { id, at, flow, source: { type: sourceType, id: sourceId } };
}

/** Where everything after the page begins, so that no more than that is read: ids of version 7 count up with time. */
function firstLaterId({ at, before }: { at: Date | null; before: string | null }): string {
  // A movement's id is made right after its time is taken, so none with a later time has an earlier id.
  const firstAfter = at === null ? lastId : firstIdAt(at);
  return before !== null && before < firstAfter ? before : firstAfter;
}
