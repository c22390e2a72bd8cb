import { AppError } from '../api/app-error.ts';
import { utcDay } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import type { StatementEntry } from '../networks/statement.ts';
import type { StatementAccount } from './account.ts';
import type { ReconciliationContext } from './context.ts';
import {
  findImport,
  insertImportOnce,
  insertLines,
  insertRefusals,
  listIdentities,
  updateImport,
  updateSeenLines,
  type NumberedLine,
  type StatementImport,
  type StoredIdentity,
} from './queries/imports.ts';
import { identityOf, isSameLine, lineId } from './statement-line.ts';

/** A line of a statement, or the reason why a row of it is none. */
export type ImportedRow = { rowNumber: number } & ({ line: StatementEntry } | { refusal: string });

/** What is imported. */
export interface NewImport extends Pick<StatementImport, 'source' | 'name' | 'fingerprint'> {
  rows: AsyncIterable<ImportedRow>;
}

// A transaction of a thousand lines takes some 50 ms; a kill loses no more than that.
const batchRows = 500;
const insertRows = 100;
/** The refusals that are stored of an import; all are counted. */
export const refusalsMax = 1_000;
// A few at most in a real statement. Of a column such as the account's own number, each line would be compared with all before it: thirty
// thousand took 45 s, in which the process stood still for up to two seconds at a time.
const linesOfTransactionMax = 100;
const repeatedRefusal = `Its transaction id stands in more than ${linesOfTransactionMax} rows. Another column may have the ids.`;

/**
 * Imports a statement: each line once, however often it is imported and in whatever files it stands. Each batch commits
 * together with how far the import is, so that one that was interrupted goes on from there. An import that was finished reads
 * nothing again.
 *
 * Throws AppError `state_conflict` where another process imports the same statement.
 */
export async function importLines(
  context: ReconciliationContext,
  account: StatementAccount,
  { rows, ...about }: NewImport,
  onBatch: (rowsDone: number) => void = () => {},
): Promise<{ imported: StatementImport; isRepeated: boolean }> {
  const { db } = context;
  let current = await beginImport(context, account, about);
  if (current.finishedAt !== null) return { imported: current, isRepeated: true };
  const rowsBefore = Number(current.rowsDone);
  let rowsRead = 0;
  let batch: ImportedRow[] = [];
  const store = async (isLast: boolean): Promise<void> => {
    const [before, stored] = [current, batch];
    const finishedAt = isLast ? context.clock.now() : null;
    current = await db.withTransaction((tx) => storeBatch(tx, before, stored, finishedAt));
    batch = [];
    onBatch(Number(current.rowsDone));
  };
  for await (const row of rows) {
    rowsRead += 1;
    if (rowsRead <= rowsBefore) continue;
    batch.push(row);
    if (batch.length === batchRows) await store(false);
  }
  await store(true);
  return { imported: current, isRepeated: false };
}

async function beginImport(
  { db, clock, newId }: ReconciliationContext,
  { railAccount }: StatementAccount,
  about: Omit<NewImport, 'rows'>,
): Promise<StatementImport> {
  const begun: StatementImport = {
    ...{ railAccount, id: newId(), ...about, createdAt: clock.now(), finishedAt: null, isDescending: null },
    ...{ rowsDone: 0n, linesNew: 0n, linesKnown: 0n, linesRefused: 0n, firstDay: null, lastDay: null },
  };
  await insertImportOnce(db, begun);
  return (await findImport(db, railAccount, about.fingerprint)) ?? begun;
}

async function storeBatch(
  tx: Transaction,
  before: StatementImport,
  rows: readonly ImportedRow[],
  finishedAt: Date | null,
): Promise<StatementImport> {
  const lines = rows.flatMap((row) => ('line' in row ? [row] : []));
  const days = [...lines.map(({ line }) => utcDay(line.at)), before.firstDay, before.lastDay];
  const sorted = days.filter((day) => day !== null).toSorted();
  const isDescending = before.isDescending ?? directionOf(lines.map(({ line }) => line));
  const numbered = numberLines(lines, { isDescending });
  const { added, seen, repeated } = await compareWithStored(tx, before, numbered);
  const refusals = [
    ...rows.flatMap((row) => ('line' in row ? [] : [{ rowNumber: row.rowNumber, reason: row.refusal }])),
    ...repeated.map(({ rowNumber }) => ({ rowNumber: Number(rowNumber), reason: repeatedRefusal })),
  ];
  const next: StatementImport = {
    ...before,
    ...{ isDescending, finishedAt, firstDay: sorted[0] ?? null, lastDay: sorted.at(-1) ?? null },
    rowsDone: before.rowsDone + BigInt(rows.length),
    linesNew: before.linesNew + BigInt(added.length),
    linesKnown: before.linesKnown + BigInt(seen.length),
    linesRefused: before.linesRefused + BigInt(refusals.length),
  };
  // First: it locks the import, so that a second process with the same file waits, and then fails.
  if ((await updateImport(tx, before.rowsDone, next)) === 0) {
    throw new AppError('state_conflict', 'Another process imports this statement. Wait until it is done.');
  }
  for (let start = 0; start < added.length; start += insertRows) {
    tx.send(insertLines(before, added.slice(start, start + insertRows)));
  }
  if (seen.length > 0) tx.send(updateSeenLines(before, seen));
  const storedRefusals = refusals.slice(0, Math.max(0, refusalsMax - Number(before.linesRefused)));
  if (storedRefusals.length > 0) tx.send(insertRefusals(before, storedRefusals));
  return next;
}

/** Whether the newest line comes first; null while all have one time. */
function directionOf(lines: readonly StatementEntry[]): boolean | null {
  const [first, last] = [lines[0], lines.at(-1)];
  if (!first || !last || first.at.getTime() === last.at.getTime()) return null;
  return first.at > last.at;
}

type RowOfLine = Omit<NumberedLine, 'id' | 'ordinal'>;

function numberLines(
  rows: readonly { rowNumber: number; line: StatementEntry }[],
  { isDescending }: Pick<StatementImport, 'isDescending'>,
): RowOfLine[] {
  return rows.map(({ rowNumber, line }) => ({
    identity: identityOf(line),
    rowNumber: BigInt(rowNumber),
    sequence: BigInt(isDescending === true ? -rowNumber : rowNumber),
    day: utcDay(line.at),
    entry: line,
  }));
}

/**
 * Which lines are new, which are stored, and which are of a transaction that has too many. A stored line stands for one row of an
 * import only: a statement that has the same transaction twice has two lines.
 */
async function compareWithStored(
  tx: Transaction,
  { railAccount, id: importId }: StatementImport,
  lines: readonly RowOfLine[],
): Promise<{ added: NumberedLine[]; seen: NumberedLine[]; repeated: RowOfLine[] }> {
  const stored = Map.groupBy(
    await listIdentities(tx, railAccount, [...new Set(lines.map(({ identity }) => identity))]),
    ({ identity }) => identity,
  );
  const [added, seen, repeated]: [NumberedLine[], NumberedLine[], RowOfLine[]] = [[], [], []];
  for (const line of lines) {
    const { identity, rowNumber, entry } = line;
    const same = stored.get(identity) ?? [];
    const isFree = (one: StoredIdentity): boolean => one.importId !== importId || one.rowNumber === rowNumber;
    const found = same.find((one) => isFree(one) && isSameLine(one, entry));
    if (found) {
      Object.assign(found, { importId, rowNumber });
      seen.push({ ...line, id: found.id, ordinal: found.ordinal });
      continue;
    }
    if (same.length >= linesOfTransactionMax) {
      repeated.push(line);
      continue;
    }
    const ordinal = BigInt(same.length + 1);
    const id = lineId(railAccount, identity, ordinal);
    const { status, netMinor } = entry;
    stored.set(identity, [...same, { id, identity, ordinal, importId, rowNumber, status, netMinor }]);
    added.push({ ...line, id, ordinal });
  }
  // Of several rows for one line, the last counts.
  const addedIds = new Set(added.map(({ id }) => id));
  return {
    added,
    repeated,
    seen: [...new Map(seen.map((line) => [line.id, line])).values()].filter(({ id }) => !addedIds.has(id)),
  };
}
