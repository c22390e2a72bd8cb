import type { Queryable } from '../kit/db.ts';
import { addMs } from '../kit/clock.ts';
import { firstIdAt } from '../kit/ids.ts';
import { debitSign, type AccountKey } from './accounts.ts';
import {
  lastId,
  listMovementsBehind,
  listSpendableMovements,
  listStatementRows,
  sumSpendableMovements,
  type HistoryRow,
  type SpendableQuery,
  type StatementQuery,
} from './queries/history.ts';

export { listMovementsOfSource } from './queries.ts';

/** One movement as a change of a balance. */
export interface BalanceLine {
  id: string;
  at: Date;
  /** The flow that moved the money, as docs/ledger.md names it. */
  flow: string;
  source: { type: string; id: string };
  /** In bututs: above zero where the balance grew. */
  changeMinor: bigint;
  /** The balance after it, in bututs. */
  balanceMinor: bigint;
}

export interface ExplainedBalance {
  /** At the requested moment, in bututs. */
  balanceMinor: bigint;
  /** Newest first; one more than a page holds where older ones are left. */
  lines: BalanceLine[];
}

/**
 * The movements behind an account's balance at `at` (null is now), newest first, each with the balance after it.
 * `before` is the last line of the previous page.
 */
export async function explainBalance(
  db: Queryable,
  query: AccountKey & { at: Date | null; before: string | null; rowsMax: number },
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
  const explained: ExplainedBalance = {
    balanceMinor: storedMinor - creditSign * BigInt(first?.creditedAfter ?? '0'),
    lines: [],
  };
  for (const row of rows) {
    if (row.id === null) continue;
    const changeMinor = creditSign * row.credited;
    explained.lines.push(lineOf(row, { changeMinor, balanceMinor }));
    balanceMinor -= changeMinor;
  }
  return explained;
}

/** What was credited to and debited from several accounts between two times. Amounts are bututs. */
export interface LedgerStatement {
  openingMinor: bigint;
  closingMinor: bigint;
  /** Oldest first; one more than a page holds where later ones are left. */
  lines: BalanceLine[];
}

/** The statement of a sub-account's accounts taken together: a movement between two of them is no line. */
export async function readStatement(db: Queryable, query: StatementQuery): Promise<LedgerStatement> {
  const rows = await listStatementRows(db, query);
  return {
    openingMinor: BigInt(rows[0]?.opening ?? '0'),
    closingMinor: BigInt(rows[0]?.closing ?? '0'),
    lines: rows.flatMap((row) =>
      row.id === null ? [] : [lineOf(row, { changeMinor: row.credited, balanceMinor: BigInt(row.balance) })],
    ),
  };
}

/** What a period changed of the money that can be spent, by flow and kind of record. Amounts are bututs. */
export interface SpendableSum {
  flow: string;
  sourceType: string;
  count: number;
  creditedMinor: bigint;
  debitedMinor: bigint;
}

/** The sums of a period, or with `through` those up to that movement. */
export async function sumSpendable(
  db: Queryable,
  { through, ...query }: Omit<SpendableQuery, 'after'> & { through: string | null },
): Promise<SpendableSum[]> {
  const bounds = spendableBounds({ ...query, after: null });
  const rows = await sumSpendableMovements(db, { ...query, after: null, ...bounds, idMax: through ?? bounds.idMax });
  return rows.map(({ flow, sourceType, count, credited, debited }) => ({
    ...{ flow, sourceType, count: Number(count) },
    ...{ creditedMinor: BigInt(credited), debitedMinor: BigInt(debited) },
  }));
}

/** The movements of a period, oldest first, each with the balance after it. `balanceMinor` is the balance before the first. */
export async function listSpendable(
  db: Queryable,
  query: SpendableQuery & { balanceMinor: bigint; rowsMax: number },
): Promise<BalanceLine[]> {
  const rows = await listSpendableMovements(db, { ...query, ...spendableBounds(query) });
  let { balanceMinor } = query;
  return rows.map((row) => {
    balanceMinor += row.credited;
    return lineOf(row, { changeMinor: row.credited, balanceMinor });
  });
}

// An id is made right after its time is read; nothing takes this long between the two.
const idLagMs = 3_600_000;

function spendableBounds({ from, to, after }: SpendableQuery): { idMin: string; idMax: string } {
  return { idMin: after ?? firstIdAt(from), idMax: firstIdAt(addMs(to, idLagMs)) };
}

function lineOf(
  { id, at, flow, sourceType, sourceId }: HistoryRow,
  amounts: Pick<BalanceLine, 'changeMinor' | 'balanceMinor'>,
): BalanceLine {
  return { id, at, flow, source: { type: sourceType, id: sourceId }, ...amounts };
}

/** Where the sums of later movements begin, so that nothing older is read: ids of version 7 count up with time. */
function firstLaterId({ at, before }: { at: Date | null; before: string | null }): string {
  // A movement's id is made right after its time is read, so a later movement never has an earlier id.
  const firstAfter = at === null ? lastId : firstIdAt(at);
  return before !== null && before < firstAfter ? before : firstAfter;
}
