import type { Queryable, Statement } from '../../kit/db.ts';
import { isFoundBy, rowBy, rowsBy, runBy } from '../../kit/run-statement.ts';
import { placeholders } from '../../kit/placeholders.ts';
import type { StatementEntry } from '../../networks/statement.ts';
import type { Mapping } from '../mapping.ts';

/** A file or an API statement, and how far it was imported. */
export interface StatementImport {
  railAccount: string;
  id: string;
  source: 'file' | 'api';
  name: string;
  fingerprint: string;
  isDescending: boolean | null;
  rowsDone: bigint;
  linesNew: bigint;
  linesKnown: bigint;
  linesRefused: bigint;
  firstDay: string | null;
  lastDay: string | null;
  createdAt: Date;
  finishedAt: Date | null;
}

const importColumns = `rail_account AS "railAccount", id, source, name, fingerprint, is_descending AS "isDescending",
  rows_done AS "rowsDone", lines_new AS "linesNew", lines_known AS "linesKnown", lines_refused AS "linesRefused",
  first_day::text AS "firstDay", last_day::text AS "lastDay", created_at AS "createdAt", finished_at AS "finishedAt"`;

/** One import for each file and mapping of an account. */
export function insertImportOnce(
  db: Queryable,
  { railAccount, id, source, name, fingerprint, createdAt }: StatementImport,
): Promise<number> {
  return db.run({
    name: 'statement_imports_insert_once',
    text: `INSERT INTO statement_imports (rail_account, id, source, name, fingerprint, rows_done, lines_new, lines_known,
             lines_refused, created_at)
           VALUES ($1, $2, $3, $4, $5, 0, 0, 0, 0, $6) ON CONFLICT (rail_account, fingerprint) DO NOTHING`,
    values: [railAccount, id, source, name, fingerprint, createdAt],
  });
}

export const findImport = rowBy<StatementImport, [railAccount: string, fingerprint: string]>({
  name: 'statement_imports_find',
  text: `SELECT ${importColumns} FROM statement_imports WHERE rail_account = $1 AND fingerprint = $2`,
});

/** Newest first. */
export const listImports = rowsBy<StatementImport, [railAccount: string, rowsMax: number]>({
  name: 'statement_imports_list',
  text: `SELECT ${importColumns} FROM statement_imports WHERE rail_account = $1 ORDER BY id DESC LIMIT $2`,
});

/** Guarded by how far the import was: of two processes with one file, the second fails. */
export const updateImport = runBy<[rowsBefore: bigint, next: StatementImport]>({
  name: 'statement_imports_update',
  text: `UPDATE statement_imports SET rows_done = $4, lines_new = $5, lines_known = $6, lines_refused = $7,
           first_day = $8, last_day = $9, is_descending = $10, finished_at = $11
         WHERE rail_account = $1 AND id = $2 AND rows_done = $3 AND finished_at IS NULL`,
  values: (rowsBefore, next) => [
    next.railAccount,
    next.id,
    rowsBefore,
    next.rowsDone,
    next.linesNew,
    next.linesKnown,
    next.linesRefused,
    next.firstDay,
    next.lastDay,
    next.isDescending,
    next.finishedAt,
  ],
});

/**
 * Whether an import may lack lines of the day, and none that came after it has them all. One that has refused rows, beside those whose
 * refusal is `expected`, is about the days between its first and last line; each of them is whole again with a later import of it.
 * One that has not ended may go on to any day before it began, until a later import has all the days that it had read. Of refusals
 * the first `refusalsMax` are stored, and judged.
 */
export const isImportIncomplete = isFoundBy<
  [railAccount: string, { day: string; expected: string; refusalsMax: number }]
>({
  name: 'statement_imports_incomplete',
  text: `WITH imports AS (
           SELECT id, first_day, last_day, created_at, finished_at,
                  finished_at IS NULL OR LEAST(lines_refused, $4) > (
                    SELECT count(*) FROM statement_refusals
                    WHERE statement_refusals.rail_account = $1 AND import_id = statement_imports.id AND reason = $3
                  ) AS is_partial
           FROM statement_imports WHERE rail_account = $1 AND first_day IS NOT NULL
         )
         SELECT id FROM imports
         WHERE is_partial
           AND CASE WHEN finished_at IS NULL THEN (created_at AT TIME ZONE 'UTC')::date >= $2::date
                    ELSE $2::date BETWEEN first_day AND last_day END
           AND NOT EXISTS (
             SELECT FROM imports AS later
             WHERE NOT later.is_partial AND later.id > imports.id
               AND CASE WHEN imports.finished_at IS NULL
                        THEN later.first_day <= imports.first_day AND later.last_day >= imports.last_day
                        ELSE $2::date BETWEEN later.first_day AND later.last_day END
           ) LIMIT 1`,
  values: (railAccount, { day, expected, refusalsMax }) => [railAccount, day, expected, refusalsMax],
});

/** Whether an import that began since then, and has ended, has the day: between its first and last line, or read by API. */
export const hasEndedImport = isFoundBy<
  [railAccount: string, { day: string; since: Record<StatementImport['source'], Date> }]
>({
  name: 'statement_imports_ended',
  text: `SELECT id FROM statement_imports
         WHERE rail_account = $1 AND created_at >= CASE source WHEN 'api' THEN $4::timestamptz ELSE $3::timestamptz END
           AND finished_at IS NOT NULL
           AND ($2::date BETWEEN first_day AND last_day OR (source = 'api' AND name = $2::date::text)) LIMIT 1`,
  values: (railAccount, { day, since }) => [railAccount, day, since.file, since.api],
});

/**
 * Whether one import that began since then, and has ended, has lines before the day and after it. With `isFirst`, nothing is stored
 * of the days before, and it may begin on the day.
 */
export const hasImportAcross = isFoundBy<[railAccount: string, { day: string; since: Date; isFirst: boolean }]>({
  name: 'statement_imports_across',
  text: `SELECT id FROM statement_imports
         WHERE rail_account = $1 AND created_at >= $3 AND finished_at IS NOT NULL AND last_day > $2::date
           AND (first_day < $2::date OR ($4::boolean AND first_day = $2::date)) LIMIT 1`,
  values: (railAccount, { day, since, isFirst }) => [railAccount, day, since, isFirst],
});

export interface RowRefusal {
  rowNumber: number;
  reason: string;
}

export function insertRefusals(
  { railAccount, id }: Pick<StatementImport, 'railAccount' | 'id'>,
  refusals: readonly RowRefusal[],
): Statement {
  return {
    name: `statement_refusals_insert_${refusals.length}`,
    text: `INSERT INTO statement_refusals (rail_account, import_id, row_number, reason)
           VALUES ${placeholders(refusals.length, 4)} ON CONFLICT (rail_account, import_id, row_number) DO NOTHING`,
    values: refusals.flatMap(({ rowNumber, reason }) => [railAccount, id, rowNumber, reason]),
  };
}

export async function listRefusals(
  db: Queryable,
  { railAccount, id }: Pick<StatementImport, 'railAccount' | 'id'>,
  rowsMax: number,
): Promise<RowRefusal[]> {
  const rows = await db.rows<{ rowNumber: bigint; reason: string }>({
    name: 'statement_refusals_list',
    text: `SELECT row_number AS "rowNumber", reason FROM statement_refusals
           WHERE rail_account = $1 AND import_id = $2 ORDER BY row_number LIMIT $3`,
    values: [railAccount, id, rowsMax],
  });
  return rows.map(({ rowNumber, reason }) => ({ rowNumber: Number(rowNumber), reason }));
}

/** A stored line, as an import compares its own lines with it. */
export interface StoredIdentity extends Pick<StatementEntry, 'status' | 'netMinor'> {
  id: string;
  identity: string;
  ordinal: bigint;
  importId: string;
  rowNumber: bigint;
}

/** In the order of their ordinals. */
export const listIdentities = rowsBy<StoredIdentity, [railAccount: string, identities: readonly string[]]>({
  name: 'statement_lines_identities',
  text: `-- across merchants: a line is an account's, which may serve all of them
         SELECT id, identity, ordinal, import_id AS "importId", row_number AS "rowNumber", status, net AS "netMinor"
         FROM statement_lines WHERE rail_account = $1 AND identity = ANY ($2::text[]) ORDER BY identity, ordinal`,
});

/** A line with its location in the import. */
export interface NumberedLine {
  id: string;
  identity: string;
  ordinal: bigint;
  rowNumber: bigint;
  sequence: bigint;
  day: string;
  entry: StatementEntry;
}

export function insertLines(
  { railAccount, id: importId }: Pick<StatementImport, 'railAccount' | 'id'>,
  lines: readonly NumberedLine[],
): Statement {
  return {
    name: `statement_lines_insert_${lines.length}`,
    text: `-- across merchants: a line is an account's, which may serve all of them
           INSERT INTO statement_lines (rail_account, id, identity, ordinal, day, at, sequence, import_id, row_number,
             transaction_id, kind, status, net, gross, fee, currency, balance, reference, original_transaction_id,
             counterparty_number, counterparty_name)
           VALUES ${placeholders(lines.length, 21)}`,
    values: lines.flatMap(({ id, identity, ordinal, rowNumber, sequence, day, entry }) => [
      ...[railAccount, id, identity, ordinal, day, entry.at, sequence, importId, rowNumber, entry.transactionId],
      ...[entry.kind, entry.status, entry.netMinor, entry.grossMinor, entry.feeMinor, entry.currency],
      ...[entry.balanceMinor, entry.reference, entry.originalTransactionId],
      ...[entry.counterpartyNumber, entry.counterpartyName],
    ]),
  };
}

/**
 * Marks stored lines as seen by an import, and takes over how a pending one went on and what an earlier statement left out. A
 * completed line never becomes pending again.
 */
export function updateSeenLines(
  { railAccount, id: importId }: Pick<StatementImport, 'railAccount' | 'id'>,
  lines: readonly NumberedLine[],
): Statement {
  const of = <Value>(pick: (line: NumberedLine) => Value): Value[] => lines.map(pick);
  return {
    name: 'statement_lines_update_seen',
    text: `-- across merchants: a line is an account's, which may serve all of them
           UPDATE statement_lines SET import_id = $2, row_number = seen.row_number,
             status = CASE WHEN seen.status = 'pending' THEN statement_lines.status ELSE seen.status END,
             net = CASE WHEN seen.status = 'pending' THEN statement_lines.net ELSE seen.net END,
             gross = CASE WHEN seen.fee IS NULL AND statement_lines.fee IS NOT NULL THEN statement_lines.gross ELSE seen.gross END,
             fee = COALESCE(seen.fee, statement_lines.fee), balance = COALESCE(statement_lines.balance, seen.balance),
             reference = COALESCE(statement_lines.reference, seen.reference)
           FROM unnest($3::uuid[], $4::bigint[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::text[])
             AS seen (id, row_number, status, net, gross, fee, balance, reference)
           WHERE statement_lines.rail_account = $1 AND statement_lines.id = seen.id`,
    values: [
      railAccount,
      importId,
      of(({ id }) => id),
      of(({ rowNumber }) => rowNumber),
      of(({ entry }) => entry.status),
      of(({ entry }) => entry.netMinor),
      of(({ entry }) => entry.grossMinor),
      of(({ entry }) => entry.feeMinor),
      of(({ entry }) => entry.balanceMinor),
      of(({ entry }) => entry.reference),
    ],
  };
}

/** Replaces a mapping of the same name. */
export const upsertMapping = runBy<
  [saved: { railAccount: string; name: string; definition: Mapping; createdAt: Date }]
>({
  name: 'statement_mappings_upsert',
  text: `INSERT INTO statement_mappings (rail_account, name, definition, created_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (rail_account, name) DO UPDATE SET definition = excluded.definition, created_at = excluded.created_at`,
  values: (saved) => [saved.railAccount, saved.name, JSON.stringify(saved.definition), saved.createdAt],
});

/** By name. */
export const listMappings = rowsBy<{ name: string; definition: Mapping }, [railAccount: string]>({
  name: 'statement_mappings_list',
  text: 'SELECT name, definition FROM statement_mappings WHERE rail_account = $1 ORDER BY name',
});
