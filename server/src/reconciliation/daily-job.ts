import { AppError } from '../api/app-error.ts';
import { addMs, dayMs, utcDay } from '../kit/clock.ts';
import type { StatementSource } from '../networks/statement.ts';
import { listStatementAccounts, type StatementAccount } from './account.ts';
import type { ReconciliationContext } from './context.ts';
import { importLines, type ImportedRow } from './import-lines.ts';
import { findDay } from './queries/days.ts';
import { readDayOfLines } from './queries/lines.ts';
import { listMissingDays, runDay } from './run-day.ts';

// Lines of the last minutes of a day stand in its statement by then.
const afterMidnightMs = 30 * 60_000;
// On the smallest pages, of fifty lines, a day of a million.
const pagesMax = 20_000;

/**
 * Reconciles yesterday, once for each account: by API where the network has its statement there, else once somebody has imported
 * lines of that day. An account that fails is tried again at the next call, and keeps no other waiting. Returns how many days it
 * has reconciled.
 */
export async function reconcileYesterday(context: ReconciliationContext): Promise<number> {
  const day = utcDay(addMs(context.clock.now(), -dayMs - afterMidnightMs));
  let reconciled = 0;
  for (const testMode of [false, true]) {
    for (const account of await listStatementAccounts(context, testMode)) {
      try {
        if (await reconcileAccount(context, account, day)) reconciled += 1;
      } catch (error) {
        const fields = { network: account.railAccount };
        // Another process imports the same statement.
        if (error instanceof AppError)
          context.log.warn('a statement was not reconciled', { ...fields, error: error.message });
        else context.log.error('reconciling a statement failed', error, fields);
      }
    }
  }
  return reconciled;
}

async function reconcileAccount(
  context: ReconciliationContext,
  account: StatementAccount,
  day: string,
): Promise<boolean> {
  const { railAccount, statements } = account;
  if (await findDay(context.db, railAccount, day)) return false;
  if (statements) {
    // A day that could not be read until it was over would have its movements, and no lines.
    const days = [...(await listMissingDays(context, railAccount, day)), day];
    for (const each of days) await importFromApi(context, account, { statements, day: each });
  }
  const lines = await readDayOfLines(context.db, railAccount, day);
  if (!statements && lines?.lines === 0n) return false;
  await runDay(context, account, day);
  return true;
}

/** Imports a day of a statement by API; the lines are the same however often they are read. */
async function importFromApi(
  context: ReconciliationContext,
  account: StatementAccount,
  { statements, day }: { statements: StatementSource; day: string },
): Promise<void> {
  // One import for each hour that it takes: a statement that was read again begins anew.
  const fingerprint = `api ${day} ${context.clock.now().toISOString().slice(0, 13)}`;
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
