import { columnFilter } from '../../api/list-filter.ts';
import { listOf, type ListSource } from '../../api/list-reader.ts';
import { rowBy, rowsBy, runBy } from '../../kit/run-statement.ts';
import type { Difference } from '../difference.ts';

const columns = `rail_account AS "railAccount", id, class, state, subject_type AS "subjectType", subject_id AS "subjectId",
  merchant_id AS "merchantId", line_id AS "lineId", day::text AS day, resolved_day::text AS "resolvedDay", resolution,
  ours AS "oursMinor", theirs AS "theirsMinor", currency, summary, case_id AS "caseId", created_at AS "createdAt",
  updated_at AS "updatedAt"`;

/** One for each record or line and class: a second process that finds the same changes the first one's. */
export const upsertDifference = runBy<[difference: Difference]>({
  name: 'reconciliation_differences_upsert',
  text: `INSERT INTO reconciliation_differences (rail_account, id, class, state, subject_type, subject_id, merchant_id, line_id,
           day, resolved_day, resolution, ours, theirs, currency, summary, case_id, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
         ON CONFLICT (rail_account, subject_id, class) DO UPDATE SET state = excluded.state, line_id = excluded.line_id,
           resolved_day = excluded.resolved_day, resolution = excluded.resolution, ours = excluded.ours,
           theirs = excluded.theirs, summary = excluded.summary, case_id = excluded.case_id,
           updated_at = excluded.updated_at
         WHERE reconciliation_differences.merchant_id = excluded.merchant_id`,
  values: (difference) => [
    difference.railAccount,
    difference.id,
    difference.class,
    difference.state,
    difference.subjectType,
    difference.subjectId,
    difference.merchantId,
    difference.lineId,
    difference.day,
    difference.resolvedDay,
    difference.resolution,
    difference.oursMinor,
    difference.theirsMinor,
    difference.currency,
    difference.summary,
    difference.caseId,
    difference.createdAt,
    difference.updatedAt,
  ],
});

/** Every difference of these records and lines, resolved or not. */
export const listDifferencesOf = rowsBy<Difference, [railAccount: string, subjectIds: readonly string[]]>({
  name: 'reconciliation_differences_of_subjects',
  text: `-- across merchants: an account may serve all of them
         SELECT ${columns} FROM reconciliation_differences WHERE rail_account = $1 AND subject_id = ANY ($2::uuid[])
         ORDER BY id`,
});

/** The same of one record or line, locked until the transaction ends. */
export const lockDifferences = rowsBy<Difference, [railAccount: string, subjectId: string]>({
  name: 'reconciliation_differences_lock_subject',
  text: `-- across merchants: an account may serve all of them
         SELECT ${columns} FROM reconciliation_differences WHERE rail_account = $1 AND subject_id = $2 ORDER BY id FOR UPDATE`,
});

/**
 * What was not decided when a day ended, or was decided without booking anything, so that it still differs; and lines whose record may
 * still be found, whatever was decided. After `after`.
 */
export const listUndecided = rowsBy<
  Difference,
  [railAccount: string, { day: string; after: string | null; rowsMax: number }]
>({
  name: 'reconciliation_differences_undecided',
  text: `-- across merchants: an account may serve all of them
         SELECT ${columns} FROM reconciliation_differences
         WHERE rail_account = $1 AND (state <> 'resolved' OR resolved_day >= $2 OR resolution = 'acknowledge'
              OR (subject_type = 'line' AND resolution NOT IN ('agrees', 'belongs')))
           AND ($3::uuid IS NULL OR id > $3)
         ORDER BY id LIMIT $4`,
  values: (railAccount, { day, after, rowsMax }) => [railAccount, day, after, rowsMax],
});

/** Found on a day or, with a null day, all that are not resolved; oldest first. */
export const listDifferences = rowsBy<
  Difference,
  [railAccount: string, { day: string | null; after: string | null; rowsMax: number }]
>({
  name: 'reconciliation_differences_list',
  text: `-- across merchants: an account may serve all of them
         SELECT ${columns} FROM reconciliation_differences
         WHERE rail_account = $1 AND CASE WHEN $2::date IS NULL THEN state <> 'resolved' ELSE day = $2 END
           AND ($3::uuid IS NULL OR id > $3)
         ORDER BY id LIMIT $4`,
  values: (railAccount, { day, after, rowsMax }) => [railAccount, day, after, rowsMax],
});

export const findDifference = rowBy<Difference, [id: string]>({
  name: 'reconciliation_differences_find',
  text: `-- across merchants: an operator knows the id, not whose it is
         SELECT ${columns} FROM reconciliation_differences WHERE id = $1`,
});

/** Locked until the transaction ends. */
export const lockDifference = rowBy<Difference, [Pick<Difference, 'railAccount' | 'merchantId' | 'id'>]>({
  name: 'reconciliation_differences_lock',
  text: `SELECT ${columns} FROM reconciliation_differences WHERE rail_account = $1 AND merchant_id = $2 AND id = $3 FOR UPDATE`,
  values: ({ railAccount, merchantId, id }) => [railAccount, merchantId, id],
});

/** On a merchant's own accounts: what differs on the operator's is the operator's work. */
const ownDifferences: ListSource<Difference> = {
  name: 'reconciliation_differences',
  select: `SELECT ${columns} FROM reconciliation_differences WHERE merchant_id = $1
    AND rail_account IN (SELECT rail_account FROM reconciliation_days WHERE merchant_id = $1)`,
};

export const listOwnDifferences = listOf(
  ownDifferences,
  (filter: { network: string | undefined; day: string | undefined; state: string | undefined }) => ({
    filters: [
      ...columnFilter('network', 'rail_account =', filter.network),
      ...columnFilter('day', 'day =', filter.day),
      ...columnFilter('state', 'state =', filter.state),
    ],
  }),
);
