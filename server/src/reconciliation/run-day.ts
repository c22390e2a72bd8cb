import { AppError } from '../api/app-error.ts';
import { addMs, dayMs, utcDay } from '../kit/clock.ts';
import { firstIdAt } from '../kit/ids.ts';
import { firstMoment } from '../kit/time-or-day.ts';
import type { StatementAccount } from './account.ts';
import { compareDay } from './compare-day.ts';
import type { ReconciliationContext } from './context.ts';
import { importDaysFromApi, wholeSince } from './import-from-api.ts';
import { judgeReceipts } from './judge-receipts.ts';
import { linkLinesOfDay } from './link-lines.ts';
import { listMerchantsOnFloat, readFloatBalances } from './queries/books.ts';
import { findDaysAround, upsertDay } from './queries/days.ts';
import { findNewestLineTime, readDayOfLines } from './queries/lines.ts';
import { unexplained, type ReconciledDay } from './reconciled-day.ts';
import type { Day } from './run.ts';

export interface RunOptions {
  /** The account's balance at the end of the day, where the statement's lines have none. */
  closingBalanceMinor?: bigint;
  onProgress?: (progress: { day: string; compared: number; total: number }) => void;
}

/** What one day of a run is reconciled with. */
interface DayOptions extends Pick<RunOptions, 'onProgress'> {
  closingBalanceMinor?: bigint | undefined;
  /** When the run began: what came since then it may not have read. */
  ranAt: Date;
}

// After a longer pause the statement begins anew, with a difference at its opening.
const daysAtOnceMax = 62;

/**
 * Reconciles an account's day: our records, the ledger's movements on the float and the network's lines. The days since the
 * last reconciled one come first, so that nothing between is left out, and all are read first where the network has its statement by
 * API. May be repeated; lines may have come meanwhile.
 *
 * Throws AppError `invalid_request`, or `unavailable` where a statement by API cannot be read.
 */
export async function runDay(
  context: ReconciliationContext,
  account: StatementAccount,
  day: string,
  options: RunOptions = {},
): Promise<ReconciledDay> {
  requireBegun(context, day);
  const ranAt = context.clock.now();
  const missing = await listMissingDays(context, account, day);
  await importDaysFromApi(context, account, [...missing, day]);
  for (const earlier of missing) {
    await runOneDay(context, account, earlier, { ...options, closingBalanceMinor: undefined, ranAt });
  }
  return runOneDay(context, account, day, { ...options, ranAt });
}

/**
 * For a day that a person asks for. One that no line reaches would be compared with nothing, and its float proved by the balance of the
 * day before. Throws AppError `invalid_request`, also for a day that is still to come.
 */
export async function requireStatement(
  context: Pick<ReconciliationContext, 'db' | 'clock'>,
  { railAccount, statements, provesReceipts }: StatementAccount,
  day: string,
  { closingBalanceMinor }: RunOptions,
): Promise<void> {
  requireBegun(context, day);
  if (statements !== null || provesReceipts || closingBalanceMinor !== undefined) return;
  const newest = await findNewestLineTime(context.db, railAccount);
  if (newest !== null && newest >= firstMoment(day)) return;
  const message = `No line of ${railAccount} from ${day} on was imported. Import its statement first; if that is empty, give the closing balance that it names.`;
  throw new AppError('invalid_request', message);
}

function requireBegun({ clock }: Pick<ReconciliationContext, 'clock'>, day: string): void {
  if (firstMoment(day) > clock.now()) throw new AppError('invalid_request', `The day ${day} has not begun yet.`);
}

/** Whether nothing of a day is left to read: by API a day is read once it is whole, and what else is imported is somebody's to run. */
export function isResultWhole(
  { statements }: StatementAccount,
  { day, ranAt }: Pick<ReconciledDay, 'day' | 'ranAt'>,
): boolean {
  return statements === null || ranAt >= wholeSince(day);
}

/** The days since the last reconciled one before a day, with that one if it is not whole; none after a longer pause. */
async function listMissingDays(
  { db }: Pick<ReconciliationContext, 'db'>,
  account: StatementAccount,
  day: string,
): Promise<string[]> {
  const { before } = await findDaysAround(db, account.railAccount, day);
  if (before === null) return [];
  const missing = [...(isResultWhole(account, before) ? [] : [before.day]), ...daysBetween(before.day, day)];
  return missing.length > daysAtOnceMax ? [] : missing;
}

function daysBetween(after: string, before: string): string[] {
  const days: string[] = [];
  for (let at = addMs(firstMoment(after), dayMs); utcDay(at) < before; at = addMs(at, dayMs)) days.push(utcDay(at));
  return days;
}

async function runOneDay(
  context: ReconciliationContext,
  account: StatementAccount,
  day: string,
  { closingBalanceMinor, onProgress, ranAt }: DayOptions,
): Promise<ReconciledDay> {
  const { db } = context;
  const { railAccount, ownerId, testMode, currency } = account;
  const start = firstMoment(day);
  const bounds = { start, end: addMs(start, dayMs) };
  if (account.provesReceipts) return runReceiptsDay(context, account, { day, ...bounds }, ranAt);
  await linkLinesOfDay(context, account, day);
  const statement = await readDayOfLines(db, railAccount, day);
  const total = Number(statement?.lines ?? 0n);
  const compared = await compareDay(context, account, { day, ...bounds }, (done) =>
    onProgress?.({ day, compared: done, total }),
  );
  const float = `float:${railAccount}`;
  const merchants = await listMerchantsOnFloat(db, float);
  const ledger = await readFloatBalances(db, { float, merchants, ...bounds, firstId: firstIdAt(start) });
  const [ledgerOpening, ledgerClosing] = [BigInt(ledger?.atStart ?? '0'), BigInt(ledger?.atEnd ?? '0')];
  const { first, before } = await findDaysAround(db, railAccount, day);
  const statementChangeMinor = BigInt(statement?.change ?? '0');
  const statementClosingMinor =
    closingBalanceMinor ??
    bigIntOrNull(statement?.closing) ??
    (total === 0 ? (before?.statementClosingMinor ?? null) : null);
  // What stood there before the first day; a statement that has only a closing balance begins with what it leads back to.
  const openingMinor = bigIntOrNull(statement?.opening) ?? (statementClosingMinor ?? 0n) - statementChangeMinor;
  const result = {
    ...{ id: context.newId(), railAccount, day, ownerId, testMode, currency, lines: statement?.lines ?? 0n },
    ...{ matched: compared.matched, inTransit: compared.inTransit, differences: compared.differences },
    ...{ gaps: statement?.gaps ?? 0n, statementChangeMinor, statementClosingMinor },
    ...{ ledgerChangeMinor: ledgerClosing - ledgerOpening, ledgerClosingMinor: ledgerClosing },
    openingDifferenceMinor: first?.openingDifferenceMinor ?? openingMinor - ledgerOpening - compared.listedAtStartMinor,
    ...{ listedMinor: compared.listedMinor, ranAt },
  };
  const reconciled: ReconciledDay = { ...result, unexplainedMinor: unexplained(result) };
  await upsertDay(db, reconciled);
  return reconciled;
}

/** There is no float to prove: the money is the merchant's own. */
async function runReceiptsDay(
  context: ReconciliationContext,
  account: StatementAccount,
  bounds: Day,
  ranAt: Date,
): Promise<ReconciledDay> {
  const { railAccount, ownerId, testMode, currency } = account;
  const { day } = bounds;
  const statement = await readDayOfLines(context.db, railAccount, day);
  const { confirmed, unconfirmed, differences } = await judgeReceipts(context, account, bounds);
  const reconciled: ReconciledDay = {
    ...{ id: context.newId(), railAccount, day, ownerId, testMode, currency, lines: statement?.lines ?? 0n },
    ...{ matched: confirmed, inTransit: unconfirmed, differences, gaps: statement?.gaps ?? 0n },
    ...{ statementChangeMinor: BigInt(statement?.change ?? '0'), statementClosingMinor: null },
    ...{ ledgerChangeMinor: 0n, ledgerClosingMinor: 0n, openingDifferenceMinor: 0n, listedMinor: 0n },
    ...{ unexplainedMinor: null, ranAt },
  };
  await upsertDay(context.db, reconciled);
  return reconciled;
}

function bigIntOrNull(text: string | null | undefined): bigint | null {
  return text === null || text === undefined ? null : BigInt(text);
}
