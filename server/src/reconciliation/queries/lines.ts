import type { Queryable, Statement } from '../../kit/db.ts';
import { idsBy, rowBy, rowsBy, runBy, valueBy } from '../../kit/run-statement.ts';
import type { LineSubject, StatementLine } from '../statement-line.ts';

/** A row of statement_lines as the driver returns it. */
type LineRow = Omit<StatementLine, 'subject'> & {
  merchantId: string | null;
  subjectType: LineSubject['type'] | null;
  subjectId: string | null;
};

const lineColumns = `rail_account AS "railAccount", id, ordinal, transaction_id AS "transactionId", kind, status, at,
  net AS "netMinor", gross AS "grossMinor", fee AS "feeMinor", currency, balance AS "balanceMinor", reference,
  original_transaction_id AS "originalTransactionId", counterparty_number AS "counterpartyNumber",
  counterparty_name AS "counterpartyName", merchant_id AS "merchantId", subject_type AS "subjectType",
  subject_id AS "subjectId"`;

function lineOf({ merchantId, subjectType, subjectId, ...line }: LineRow): StatementLine {
  const isLinked = merchantId !== null && subjectType !== null && subjectId !== null;
  return { ...line, subject: isLinked ? { merchantId, type: subjectType, id: subjectId } : null };
}

async function lineRows(db: Queryable, statement: Statement): Promise<StatementLine[]> {
  return (await db.rows<LineRow>(statement)).map(lineOf);
}

/** Lines of a day that belong to no record yet, by id. */
export function listUnlinkedLines(
  db: Queryable,
  railAccount: string,
  day: string,
  after: string | null,
  rowsMax: number,
): Promise<StatementLine[]> {
  return lineRows(db, {
    name: 'statement_lines_list_unlinked',
    text: `-- across merchants: a line is an account's, which may serve all of them
           SELECT ${lineColumns} FROM statement_lines
           WHERE rail_account = $1 AND day = $2 AND subject_id IS NULL AND ($3::uuid IS NULL OR id > $3)
           ORDER BY id LIMIT $4`,
    values: [railAccount, day, after, rowsMax],
  });
}

export const updateLineSubjects = runBy<
  [railAccount: string, found: readonly { lineId: string; subject: LineSubject }[]]
>({
  name: 'statement_lines_update_subjects',
  text: `-- across merchants: a line is an account's, which may serve all of them
         UPDATE statement_lines SET merchant_id = found.merchant_id, subject_type = found.type, subject_id = found.subject_id
         FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::uuid[]) AS found (id, merchant_id, type, subject_id)
         WHERE statement_lines.rail_account = $1 AND statement_lines.id = found.id`,
  values: (railAccount, found) => [
    railAccount,
    found.map(({ lineId }) => lineId),
    found.map(({ subject }) => subject.merchantId),
    found.map(({ subject }) => subject.type),
    found.map(({ subject }) => subject.id),
  ],
});

/** The records that lines of a day belong to, in the order of their ids. */
export const listSubjectsOfDay = rowsBy<
  LineSubject,
  [railAccount: string, day: string, after: string | null, rowsMax: number]
>({
  name: 'statement_lines_subjects_of_day',
  text: `-- across merchants: a line is an account's, which may serve all of them
         SELECT DISTINCT subject_id AS id, merchant_id AS "merchantId", subject_type AS type FROM statement_lines
         WHERE rail_account = $1 AND day = $2 AND subject_id IS NOT NULL AND ($3::uuid IS NULL OR subject_id > $3)
         ORDER BY subject_id LIMIT $4`,
});

/** Every line of these records, of whatever day. */
export function listLinesOfSubjects(
  db: Queryable,
  railAccount: string,
  subjectIds: readonly string[],
): Promise<StatementLine[]> {
  return lineRows(db, {
    name: 'statement_lines_list_of_subjects',
    text: `-- across merchants: a line is an account's, which may serve all of them
           SELECT ${lineColumns} FROM statement_lines
           WHERE rail_account = $1 AND subject_id = ANY ($2::uuid[]) ORDER BY at, sequence`,
    values: [railAccount, subjectIds],
  });
}

export function findLines(db: Queryable, railAccount: string, ids: readonly string[]): Promise<StatementLine[]> {
  return lineRows(db, {
    name: 'statement_lines_find',
    text: `-- across merchants: a line is an account's, which may serve all of them
           SELECT ${lineColumns} FROM statement_lines WHERE rail_account = $1 AND id = ANY ($2::uuid[])`,
    values: [railAccount, ids],
  });
}

/** When the newest line of an account was; null without any. */
export const findNewestLineTime = valueBy<Date | null, [railAccount: string]>({
  name: 'statement_lines_newest',
  text: `-- across merchants: a line is an account's, which may serve all of them
         SELECT at AS value FROM statement_lines WHERE rail_account = $1 ORDER BY day DESC, at DESC, sequence DESC LIMIT 1`,
  none: null,
});

/** The last day before a day that has lines, and the first one after it; null for none. */
export async function findLineDaysAround(
  db: Queryable,
  railAccount: string,
  day: string,
): Promise<{ before: string | null; after: string | null }> {
  const row = await db.row<{ before: string | null; after: string | null }>({
    name: 'statement_lines_days_around',
    text: `-- across merchants: a line is an account's, which may serve all of them
           SELECT (SELECT max(day) FROM statement_lines WHERE rail_account = $1 AND day < $2)::text AS before,
                  (SELECT min(day) FROM statement_lines WHERE rail_account = $1 AND day > $2)::text AS after`,
    values: [railAccount, day],
  });
  return row ?? { before: null, after: null };
}

/** What the statement says of a day as a whole; amounts in bututs as text. */
export interface DayOfLines {
  lines: bigint;
  /** When the first one was; null without any. */
  first: Date | null;
  change: string;
  /** The balance before the first line and after the last one that has a balance, with what moved after it. */
  opening: string | null;
  closing: string | null;
  /** How often a balance does not follow from the one before. */
  gaps: bigint;
  gapSum: string;
}

/** Lines of one time are in the order of their file. */
export const readDayOfLines = rowBy<DayOfLines, [railAccount: string, day: string]>({
  name: 'statement_lines_read_day',
  text: `-- across merchants: a line is an account's, which may serve all of them
         WITH ordered AS (
           SELECT at, net, balance, sum(net) OVER earlier AS moved,
                  count(balance) OVER earlier AS balances
           FROM statement_lines WHERE rail_account = $1 AND day = $2
           WINDOW earlier AS (ORDER BY at, sequence ROWS UNBOUNDED PRECEDING)
         ), balanced AS (
           SELECT balance - moved AS base, balances, lag(balance - moved) OVER (ORDER BY balances) AS base_before
           FROM ordered WHERE balance IS NOT NULL
         )
         SELECT (SELECT count(*) FROM ordered) AS lines, (SELECT min(at) FROM ordered) AS first,
                COALESCE((SELECT sum(net) FROM ordered), 0)::text AS change,
                (SELECT base FROM balanced WHERE balances = 1)::text AS opening,
                ((SELECT base FROM balanced ORDER BY balances DESC LIMIT 1) + (SELECT sum(net) FROM ordered))::text AS closing,
                (SELECT count(*) FROM balanced WHERE base <> base_before) AS gaps,
                COALESCE((SELECT sum(base - base_before) FROM balanced WHERE base <> base_before), 0)::text AS "gapSum"`,
});

/** Which of these records have a line on a day. */
export const listSubjectsWithLines = idsBy<[railAccount: string, day: string, subjectIds: readonly string[]]>({
  name: 'statement_lines_subjects_with_lines',
  text: `-- across merchants: a line is an account's, which may serve all of them
         SELECT DISTINCT subject_id AS id FROM statement_lines
         WHERE rail_account = $1 AND day = $2 AND subject_id = ANY ($3::uuid[])`,
});

/** The lines of a transaction of the network, of whatever account. */
export function listLinesOfTransaction(
  db: Queryable,
  railAccounts: readonly string[],
  identities: readonly string[],
): Promise<StatementLine[]> {
  return lineRows(db, {
    name: 'statement_lines_list_of_transaction',
    text: `-- across merchants: an operator knows the transaction, not whose it is
           SELECT ${lineColumns} FROM statement_lines
           WHERE rail_account = ANY ($1::text[]) AND identity = ANY ($2::text[]) ORDER BY at, sequence LIMIT 50`,
    values: [railAccounts, identities],
  });
}

/** A line with the newest difference that it shows or that its record has. */
export interface ReportedLine extends StatementLine {
  class: string | null;
  state: string | null;
}

/** The lines of a day in the order of their times, after a time and sequence. */
export async function listReportedLines(
  db: Queryable,
  railAccount: string,
  day: string,
  { after, rowsMax }: { after: { at: Date; sequence: bigint } | null; rowsMax: number },
): Promise<(ReportedLine & { sequence: bigint })[]> {
  const rows = await db.rows<LineRow & { class: string | null; state: string | null; sequence: bigint }>({
    name: 'statement_lines_reported',
    text: `-- across merchants: a line is an account's, which may serve all of them
           SELECT lines.*, found.class, found.state
           FROM (SELECT ${lineColumns}, sequence, COALESCE(subject_id, id) AS subject FROM statement_lines
                 WHERE rail_account = $1 AND day = $2 AND ($3::timestamptz IS NULL OR (at, sequence) > ($3, $4))
                 ORDER BY at, sequence LIMIT $5) AS lines
           LEFT JOIN LATERAL (
             SELECT class, state FROM reconciliation_differences
             WHERE reconciliation_differences.rail_account = $1 AND subject_id = lines.subject
               AND (line_id = lines.id OR line_id IS NULL)
             ORDER BY updated_at DESC LIMIT 1
           ) AS found ON true
           ORDER BY lines.at, lines.sequence`,
    values: [railAccount, day, after?.at ?? null, after?.sequence ?? null, rowsMax],
  });
  return rows.map((row) => ({ ...lineOf(row), class: row.class, state: row.state, sequence: row.sequence }));
}
