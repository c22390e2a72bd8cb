import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { AppError } from '../api/app-error.ts';
import { sanitizeLine } from '../kit/terminal-text.ts';
import type { StatementAccount } from './account.ts';
import type { ReconciliationContext } from './context.ts';
import { importLines, type ImportedRow } from './import-lines.ts';
import { columnsOf, guessMapping, type Columns, type Mapping } from './mapping.ts';
import { listMappings, listRefusals, upsertMapping, type RowRefusal, type StatementImport } from './queries/imports.ts';
import { openStatementFile, type OpenedFile } from './read-file.ts';
import { readLine, type ReadLine } from './read-line.ts';
import { columnsMax, tooWide } from './read-xlsx.ts';

export interface ImportResult extends StatementImport {
  /** Whether the same file with the same mapping was imported before: then nothing was read again. */
  isRepeated: boolean;
  /** The first refusals. */
  refusals: RowRefusal[];
}

const refusalsShown = 20;
const fileNameLengthMax = 200;

/**
 * Imports a file, CSV or XLSX, with the account's mapping of that name; without a name, with its only mapping, or by usual
 * headings. `onProgress` gets how much of the file is done, in rows.
 *
 * Throws AppError `invalid_request` and `state_conflict`.
 */
export async function importFile(
  context: ReconciliationContext,
  account: StatementAccount,
  { path, mapping: name, onProgress }: { path: string; mapping: string | null; onProgress?: (rows: number) => void },
): Promise<ImportResult> {
  const file = await openStatementFile(path);
  const saved = await savedMapping(context, account, name);
  const heading = await findHeading(file, saved);
  const { mapping } = heading;
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([file.hash, mapping]))
    .digest('hex');
  const { imported, isRepeated } = await importLines(
    context,
    account,
    {
      source: 'file',
      name: sanitizeLine(basename(path)).slice(0, fileNameLengthMax),
      fingerprint,
      rows: linesOf(file, heading, { currency: account.currency, now: context.clock.now() }),
    },
    onProgress,
  );
  return { ...imported, isRepeated, refusals: await listRefusals(context.db, imported, refusalsShown) };
}

/** Lines of a file as a mapping reads them, without storing anything. */
export interface TriedMapping {
  mapping: Mapping;
  rows: ImportedRow[];
}

/** Reads the first rows of a file with a mapping, or by usual headings. Throws AppError `invalid_request`. */
export async function tryMapping(
  context: ReconciliationContext,
  account: StatementAccount,
  { path, mapping, rowsMax }: { path: string; mapping: Mapping | null; rowsMax: number },
): Promise<TriedMapping> {
  const file = await openStatementFile(path);
  const heading = await findHeading(file, mapping);
  const rows: ImportedRow[] = [];
  for await (const row of linesOf(file, heading, { currency: account.currency, now: context.clock.now() })) {
    if (rows.push(row) === rowsMax) break;
  }
  return { mapping: heading.mapping, rows };
}

const nameForm = /^[a-z0-9][a-z0-9-]{0,62}$/;

/**
 * Saves a mapping that was tried: at least one row of the file must have been read as a line with it.
 *
 * Throws AppError `invalid_request`.
 */
export async function saveMapping(
  { db, clock }: ReconciliationContext,
  { railAccount }: StatementAccount,
  { name, tried }: { name: string; tried: TriedMapping },
): Promise<void> {
  if (!nameForm.test(name)) {
    throw new AppError('invalid_request', 'A mapping’s name has small letters, digits and dashes.');
  }
  if (!tried.rows.some((row) => 'line' in row)) {
    throw new AppError('invalid_request', 'No row of the file could be read with this mapping, so it is not saved.');
  }
  await upsertMapping(db, { railAccount, name, definition: tried.mapping, createdAt: clock.now() });
}

async function savedMapping(
  { db }: ReconciliationContext,
  { railAccount }: StatementAccount,
  name: string | null,
): Promise<Mapping | null> {
  const mappings = await listMappings(db, railAccount);
  if (name === null) return mappings.length === 1 ? (mappings[0]?.definition ?? null) : null;
  const found = mappings.find((each) => each.name === name);
  if (found) return found.definition;
  const names = mappings.map((each) => each.name);
  const others = names.length === 0 ? 'It has none yet.' : `It has ${names.join(', ')}.`;
  throw new AppError('invalid_request', `${railAccount} has no mapping ${sanitizeLine(name)}. ${others}`);
}

interface Heading {
  mapping: Mapping;
  columns: Columns;
  rowNumber: number;
  /** Those of the row, the empty ones at its end too. */
  cells: number;
  /** Up to the last one that is a heading. */
  named: number;
}

// Some statements begin with a few lines about the account.
const headingRowsMax = 30;

/** The row of headings, the first that fits. */
async function findHeading(file: OpenedFile, mapping: Mapping | null): Promise<Heading> {
  let count = 0;
  for await (const row of file.rows(mapping?.encoding ?? 'utf-8')) {
    if ('cells' in row && row.cells.length <= columnsMax) {
      const found = mapping ?? guessMapping(row.cells);
      const columns = found && columnsOf(found, row.cells);
      const named = row.cells.findLastIndex((text) => text.trim() !== '') + 1;
      if (found && columns)
        return { mapping: found, columns, rowNumber: row.rowNumber, cells: row.cells.length, named };
    }
    count += 1;
    if (count === headingRowsMax) break;
  }
  const missing = mapping
    ? `No row has all headings of the mapping: ${Object.values(mapping.columns).join(', ')}.`
    : 'No row has headings for a transaction id, a time and an amount. Write a mapping and try it: reconcile try.';
  throw new AppError('invalid_request', missing);
}

// Of 1,250.00 without quotes the amount would be 1, and each cell after it another column's.
const shifted = `It has more cells than there are headings: a separator may stand in a cell without quotes. If each row is like that, \
end the headings with a separator too, and name a column that has something.`;

/** Of a CSV file: whether a cell has no heading above it. An empty one has, where the headings end with a separator too. */
function isShifted(row: readonly string[], { cells, named }: Heading): boolean {
  return row.length > cells || row.slice(named).some((text) => text.trim() !== '');
}

async function* linesOf(
  file: OpenedFile,
  heading: Heading,
  { currency, now }: { currency: string; now: Date },
): AsyncGenerator<ImportedRow> {
  const { mapping, columns } = heading;
  for await (const row of file.rows(mapping.encoding)) {
    const { rowNumber } = row;
    if (rowNumber <= heading.rowNumber) continue;
    if ('refusal' in row) yield row;
    else if (row.cells.length > columnsMax) yield { rowNumber, refusal: tooWide };
    else if (!file.isWorkbook && isShifted(row.cells, heading)) yield { rowNumber, refusal: shifted };
    else yield { rowNumber, ...hinted(readLine({ mapping, columns, currency, now }, row.cells), row.cells) };
  }
}

/** A row that has swallowed others is refused for what they make of it. */
function hinted(read: ReadLine, cells: readonly string[]): ReadLine {
  const goesOn = cells.some((text) => text.includes('\n'));
  return goesOn && 'refusal' in read
    ? { refusal: `${read.refusal} It goes over several lines: a quote may be missing.` }
    : read;
}
