import type { Transaction } from '../kit/db.ts';
import { moneyText } from '../kit/money.ts';
import { pagesOf } from '../kit/pages-of.ts';
import { bookDifference } from './book-difference.ts';
import type { Run } from './run.ts';
import { imbalance } from './compare.ts';
import type { ReconciliationContext } from './context.ts';
import { lockDifferencesOf, storeDifference } from './store-difference.ts';
import type { Difference } from './difference.ts';
import { isWithoutRecord, linkLines } from './link-lines.ts';
import { listFloatMovements, type FloatMovement } from './queries/books.ts';
import { listDifferencesOf, listUndecided } from './queries/differences.ts';
import { findLines } from './queries/lines.ts';
import type { StatementLine } from './statement-line.ts';

/**
 * Judges lines that belong to no record. Money that came to the operator's account stands in `unmatched` until two operators have
 * decided whose it is; what left has a case. On a business's own account such lines are its own business: they are listed. A line
 * whose record was found later may still have money in `unmatched`, or had it when the day ended: that is listed too.
 */
export async function judgeLines(
  context: ReconciliationContext,
  run: Run,
  lines: readonly StatementLine[],
): Promise<void> {
  const moved = lines.filter(({ netMinor }) => netMinor !== 0n);
  if (moved.length === 0) return;
  const stored = new Map(
    (
      await listDifferencesOf(
        context.db,
        run.account.railAccount,
        moved.map(({ id }) => id),
      )
    ).map((each) => [each.subjectId, each]),
  );
  const movements = Map.groupBy(
    await listFloatMovements(context.db, {
      ...{ float: `float:${run.account.railAccount}`, start: run.start, end: run.end },
      sources: [...stored.values()],
    }),
    ({ sourceId }) => sourceId,
  );
  for (const line of moved) {
    const difference = stored.get(line.id);
    await judgeLine(context, run, { line, difference, movements: movements.get(difference?.id ?? '') ?? [] });
  }
}

interface LoadedLine {
  line: StatementLine;
  difference: Difference | undefined;
  /** What was booked for it on the float. */
  movements: readonly FloatMovement[];
}

async function judgeLine(
  context: ReconciliationContext,
  run: Run,
  { line, difference, movements }: LoadedLine,
): Promise<void> {
  const { totals, account, start, end } = run;
  // A line that has a record is compared with it.
  const lines = line.subject === null ? [line] : [];
  totals.listedMinor += imbalance({ movements, lines }, { before: end, sum: 'beforeEnd' });
  totals.listedAtStartMinor += imbalance({ movements, lines }, { before: start, sum: 'beforeStart' });
  if (difference?.state === 'resolved') return;
  totals.differences.unknown = (totals.differences.unknown ?? 0) + 1;
  if (line.subject !== null) return;
  const isOwners = account.ownerId !== null;
  // Nobody decides an owner's own lines; each is stored, because later days list it too.
  if (!difference && !isOwners && run.casesLeft <= 0) return;
  const opensCase = !isOwners && run.casesLeft > 0;
  const bookedMinor = movements.reduce((sum, { isDebit, amount }) => sum + (isDebit ? 1n : -1n) * BigInt(amount), 0n);
  const isStored =
    difference !== undefined && difference.oursMinor === bookedMinor && difference.theirsMinor === line.netMinor;
  // A business's own account may have lines of years that nobody decides.
  if (isStored && (difference.caseId !== null || !opensCase)) return;
  const books = await account.books();
  await context.db.withTransaction(async (tx) => {
    const { railAccount, currency } = account;
    const [stored] = await lockDifferencesOf(tx, railAccount, line.id);
    // Another process has judged it since it was read.
    if (stored?.updatedAt.getTime() !== difference?.updatedAt.getTime()) return;
    const isToBook = opensCase && line.netMinor > 0n && bookedMinor === 0n && !difference?.caseId;
    const finding = {
      ...({ class: 'unknown', theirsMinor: line.netMinor, oursMinor: isToBook ? line.netMinor : bookedMinor } as const),
      ...{ mayBeInTransit: false, line, isExact: false },
    };
    const found = await storeDifference(tx, context, difference, {
      ...{ railAccount, currency, day: run.day, finding, state: 'open', resolution: null, opensCase },
      subject: { merchantId: books.id, type: 'line', id: line.id },
      summary: describeLine(run, line, { isOwners, isBooked: isToBook || bookedMinor > 0n }),
    });
    if (isToBook) await bookUnmatched(tx, context, found.difference, line.netMinor);
    if (found.openedCase || (found.isNew && !isOwners)) run.casesLeft -= 1;
    // A day that has not ended has what is booked now.
    if (isToBook && context.clock.now() < end) tx.afterCommit(() => (totals.listedMinor -= line.netMinor));
  });
}

function describeLine(
  { account: { railAccount } }: Run,
  { netMinor, currency, kind, transactionId }: StatementLine,
  { isOwners, isBooked }: { isOwners: boolean; isBooked: boolean },
): string {
  const amount = moneyText({ currency, amountMinor: netMinor < 0n ? -netMinor : netMinor });
  const direction = netMinor > 0n ? 'came in' : 'went out';
  const what = `${amount} ${direction} on ${railAccount} (${kind}, transaction ${transactionId}), which belongs to no record.`;
  if (isOwners) return `${what} The account is the business’s own.`;
  return isBooked ? `${what} The money is in unmatched.` : what;
}

/** Money that nobody claims is the operator's to keep until somebody does. */
async function bookUnmatched(
  tx: Transaction,
  context: ReconciliationContext,
  difference: Difference,
  amountMinor: bigint,
): Promise<void> {
  const debit = `float:${difference.railAccount}` as const;
  const movements = [{ debit, credit: 'unmatched', amountMinor }] as const;
  await bookDifference(tx, context, difference, { flow: 'unmatched', movements });
}

const pageRows = 1_000;

/** Looks again for the records of lines that had none: a callback may have come after the statement. */
export async function relinkUndecided(context: ReconciliationContext, { account, day }: Run): Promise<void> {
  const { db } = context;
  const pages = pagesOf<Difference>(pageRows, (last) =>
    listUndecided(db, account.railAccount, { day, after: last?.id ?? null, rowsMax: pageRows }),
  );
  for await (const page of pages) {
    const ids = page.filter(isWithoutRecord).map(({ subjectId }) => subjectId);
    await linkLines(context, account, await findLines(db, account.railAccount, ids));
  }
}
