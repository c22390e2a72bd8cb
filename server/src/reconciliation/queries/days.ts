import { columnFilter } from '../../api/list-filter.ts';
import { listOf, type ListSource } from '../../api/list-reader.ts';
import type { Queryable } from '../../kit/db.ts';
import { rowBy, rowsBy, runBy } from '../../kit/run-statement.ts';
import type { ReconciledDay } from '../reconciled-day.ts';

const columns = `rail_account AS "railAccount", day::text AS day, id, merchant_id AS "ownerId", test_mode AS "testMode", currency, lines,
  matched, in_transit AS "inTransit", differences, gaps, statement_change AS "statementChangeMinor",
  statement_closing AS "statementClosingMinor", ledger_change AS "ledgerChangeMinor", ledger_closing AS "ledgerClosingMinor",
  opening_difference AS "openingDifferenceMinor", listed AS "listedMinor", unexplained AS "unexplainedMinor",
  ran_at AS "ranAt"`;

/** A day that is reconciled again replaces its result. */
export const upsertDay = runBy<[day: ReconciledDay]>({
  name: 'reconciliation_days_upsert',
  text: `-- across merchants: an account may serve all of them
         INSERT INTO reconciliation_days (rail_account, day, merchant_id, test_mode, currency, lines, matched, in_transit,
           differences, gaps, statement_change, statement_closing, ledger_change, ledger_closing, opening_difference,
           listed, unexplained, ran_at, id)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
         ON CONFLICT (rail_account, day) DO UPDATE SET merchant_id = excluded.merchant_id, lines = excluded.lines,
           matched = excluded.matched, in_transit = excluded.in_transit, differences = excluded.differences,
           gaps = excluded.gaps, statement_change = excluded.statement_change,
           statement_closing = excluded.statement_closing, ledger_change = excluded.ledger_change,
           ledger_closing = excluded.ledger_closing, opening_difference = excluded.opening_difference,
           listed = excluded.listed, unexplained = excluded.unexplained, ran_at = excluded.ran_at`,
  values: (day) => [
    day.railAccount,
    day.day,
    day.ownerId,
    day.testMode,
    day.currency,
    day.lines,
    day.matched,
    day.inTransit,
    JSON.stringify(day.differences),
    day.gaps,
    day.statementChangeMinor,
    day.statementClosingMinor,
    day.ledgerChangeMinor,
    day.ledgerClosingMinor,
    day.openingDifferenceMinor,
    day.listedMinor,
    day.unexplainedMinor,
    day.ranAt,
    day.id,
  ],
});

/** The account's results of a day, of all accounts. */
export const listResultsOfDay = rowsBy<ReconciledDay, [day: string]>({
  name: 'reconciliation_days_of_day',
  text: `-- across merchants: an account may serve all of them
         SELECT ${columns} FROM reconciliation_days WHERE day = $1 ORDER BY test_mode, rail_account`,
});

export const findDay = rowBy<ReconciledDay, [railAccount: string, day: string]>({
  name: 'reconciliation_days_find',
  text: `-- across merchants: an account may serve all of them
         SELECT ${columns} FROM reconciliation_days WHERE rail_account = $1 AND day = $2`,
});

/** The first day of an account, and the last one before a day; null without. */
export async function findDaysAround(
  db: Queryable,
  railAccount: string,
  day: string,
): Promise<{ first: ReconciledDay | null; before: ReconciledDay | null }> {
  const rows = await db.rows<ReconciledDay>({
    name: 'reconciliation_days_around',
    text: `-- across merchants: an account may serve all of them
           (SELECT ${columns} FROM reconciliation_days WHERE rail_account = $1 AND day < $2 ORDER BY day LIMIT 1)
           UNION ALL
           (SELECT ${columns} FROM reconciliation_days WHERE rail_account = $1 AND day < $2 ORDER BY day DESC LIMIT 1)`,
    values: [railAccount, day],
  });
  return { first: rows[0] ?? null, before: rows.at(-1) ?? null };
}

/** The newest day of each account. */
export const listNewestDays = rowsBy<ReconciledDay, []>({
  name: 'reconciliation_days_newest',
  text: `-- across merchants: an account may serve all of them
         SELECT DISTINCT ON (rail_account) ${columns} FROM reconciliation_days ORDER BY rail_account, day DESC`,
});

/** Newest days first. */
export function listDays(
  db: Queryable,
  { testMode, railAccount = null, rowsMax }: { testMode: boolean | null; railAccount?: string | null; rowsMax: number },
): Promise<ReconciledDay[]> {
  return db.rows({
    name: 'reconciliation_days_list',
    text: `-- across merchants: an account may serve all of them
           SELECT ${columns} FROM reconciliation_days
            WHERE ($1::boolean IS NULL OR test_mode = $1) AND ($2::text IS NULL OR rail_account = $2)
            ORDER BY day DESC, rail_account LIMIT $3`,
    values: [testMode, railAccount, rowsMax],
  });
}

/** A merchant's own accounts, newest first. */
const ownDays: ListSource<ReconciledDay> = {
  name: 'reconciliation_days',
  select: `SELECT ${columns} FROM reconciliation_days WHERE merchant_id = $1`,
};

export const listOwnDays = listOf(ownDays, (filter: { network: string | undefined; day: string | undefined }) => ({
  filters: [...columnFilter('network', 'rail_account =', filter.network), ...columnFilter('day', 'day =', filter.day)],
}));
