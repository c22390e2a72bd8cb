import { AppError } from '../api/app-error.ts';
import { addMs, dayMs, utcDay } from '../kit/clock.ts';
import { firstMoment } from '../kit/time-or-day.ts';
import type { StatementSource } from '../networks/statement.ts';
import type { StatementAccount } from './account.ts';
import type { ReconciliationContext } from './context.ts';
import { importLines, type ImportedRow } from './import-lines.ts';
import { hasEndedImport } from './queries/imports.ts';

// Lines of the last minutes of a day stand in its statement by then.
const lateLinesMs = 30 * 60_000;

/** From when on a statement by API has all lines of a day. */
export function wholeSince(day: string): Date {
  return addMs(firstMoment(day), dayMs + lateLinesMs);
}

/** The last day whose statement by API has all its lines. */
export function lastWholeDay(now: Date): string {
  return utcDay(addMs(now, -dayMs - lateLinesMs));
}

// On pages of fifty lines a day of a million; a provider whose pages are smaller has fewer.
const pagesMax = 20_000;

/**
 * Imports days of a statement by API, where the network has one. Not a day that is not over, of which the rest would count as missing,
 * nor one that an import has, by API since it is whole, or of a file since its end, as where the network no longer returns the day.
 *
 * Throws AppError `unavailable` where a day cannot be read: its movements would all count as missing.
 */
export async function importDaysFromApi(
  context: ReconciliationContext,
  account: StatementAccount,
  days: readonly string[],
): Promise<void> {
  const { statements, railAccount } = account;
  if (!statements) return;
  for (const day of days) {
    const end = addMs(firstMoment(day), dayMs);
    const since = { file: end, api: wholeSince(day) };
    if (end > context.clock.now() || (await hasEndedImport(context.db, railAccount, { day, since }))) continue;
    await importFromApi(context, account, { statements, day });
  }
}

/** Imports a day of a statement by API; the lines are the same however often they are read. */
async function importFromApi(
  context: ReconciliationContext,
  account: StatementAccount,
  { statements, day }: { statements: StatementSource; day: string },
): Promise<void> {
  // One import for each hour that it takes: a statement that was read again begins anew, also where lines were still to come.
  const fingerprint = `api ${day} ${addMs(context.clock.now(), -lateLinesMs).toISOString().slice(0, 13)}`;
  const about = { source: 'api', name: day, fingerprint } as const;
  await importLines(context, account, { ...about, rows: rowsOf(statements, day, account.currency) });
}

async function* rowsOf(statements: StatementSource, day: string, currency: string): AsyncGenerator<ImportedRow> {
  let rowNumber = 0;
  const starts = new Set<string>();
  let cursor: string | null = null;
  for (let pages = 0; pages < pagesMax; pages += 1) {
    const page = await statements.read({ day, cursor });
    if (page.state === 'unknown')
      throw new AppError('unavailable', `The statement of ${day} was not read: ${page.detail}`);
    const [first] = page.lines;
    if (first) {
      // Each line of a page that comes again would count as one more.
      const start = `${first.kind} ${first.transactionId}`;
      if (starts.has(start))
        throw new AppError('unavailable', `The statement of ${day} was not read: a page came twice`);
      starts.add(start);
    }
    for (const line of page.lines) {
      rowNumber += 1;
      const isForeign = line.currency !== currency;
      yield isForeign
        ? { rowNumber, refusal: `It is not in ${currency}, the currency of this account.` }
        : { rowNumber, line };
    }
    for (const refusal of page.refusals) {
      rowNumber += 1;
      yield { rowNumber, refusal };
    }
    if (page.nextCursor === null) return;
    cursor = page.nextCursor;
  }
  throw new AppError('unavailable', `The statement of ${day} was not read: its pages do not end`);
}
