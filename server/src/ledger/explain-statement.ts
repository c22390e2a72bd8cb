import type { Queryable } from '../kit/db.ts';
import { lineOf } from './explain-balance.ts';
import type { BalanceLine } from './explain-balance.ts';
import { listStatementRows } from './queries/history.ts';
import type { StatementQuery } from './queries/history.ts';

/** What came and went between two times. Amounts are bututs. */
export interface LedgerStatement {
  openingMinor: bigint;
  closingMinor: bigint;
  /** The oldest first; one more than the limit where later ones are left. */
  lines: BalanceLine[];
}

/**
 * The movements of several accounts of a sub-account taken together, so that what moves between them is no movement.
 */
export async function readStatement(db: Queryable, query: StatementQuery): Promise<LedgerStatement> {
  const rows = await listStatementRows(db, query);
  const [first] = rows;
  return {
    openingMinor: BigInt(first?.opening ?? '0'),
    closingMinor: BigInt(first?.closing ?? '0'),
    lines: rows.flatMap((row) =>
      row.id === null
        ? []
        : [{ ...lineOf(row), changeMinor: row.credited, balanceMinor: BigInt(row.balance) } satisfies BalanceLine],
    ),
  };
}
