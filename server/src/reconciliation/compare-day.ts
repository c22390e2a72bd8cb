import { addMs } from '../kit/clock.ts';
import { firstIdAt } from '../kit/ids.ts';
import { pagesOf } from '../kit/pages-of.ts';
import type { StatementAccount } from './account.ts';
import type { ReconciliationContext } from './context.ts';
import type { Difference } from './difference.ts';
import { judgeLines, relinkUndecided } from './judge-lines.ts';
import { judgeSubjects } from './judge-subjects.ts';
import { loadCompared, type LoadedSubject } from './load-compared.ts';
import { listDayMovements, listMerchantsOnFloat, type DayMovement } from './queries/books.ts';
import { listUndecided } from './queries/differences.ts';
import {
  findLines,
  findNewestLineTime,
  listSubjectsOfDay,
  listSubjectsWithLines,
  listUnlinkedLines,
} from './queries/lines.ts';
import type { Day, DayTotals, Run } from './run.ts';
import type { LineSubject, StatementLine } from './statement-line.ts';

// Some 3 MB of lines and movements; larger pages are no faster.
const pageSubjects = 500;
// Networks' clocks and ours differ, and so does the moment of which each says when it was.
const toleranceMs = 15 * 60_000;
// A wrong file or a wrong mapping makes every line differ: then the first cases say so, and nobody closes thousands. The others
// are counted; the next run finds them again.
const casesMax = 1_000;
// An id is made right after its time is read.
const idLagMs = 3_600_000;

/**
 * Compares everything that a day touches, each record once: what its lines belong to, what moved on the float, and what was not
 * decided before. Page by page in the order of ids, so that memory does not grow with the day.
 */
export async function compareDay(
  context: ReconciliationContext,
  account: StatementAccount,
  day: Day,
  onPage: (recordsCompared: number) => void,
): Promise<DayTotals> {
  const newest = await findNewestLineTime(context.db, account.railAccount);
  const run: Run = {
    ...{ ...day, account, casesLeft: casesMax },
    coveredUntil: addMs(newest ?? day.start, -toleranceMs),
    totals: { matched: 0n, inTransit: 0n, differences: {}, listedMinor: 0n, listedAtStartMinor: 0n },
  };
  await relinkUndecided(context, run);
  let compared = 0;
  const count = (records: number): void => {
    compared += records;
    onPage(compared);
  };
  await compareLines(context, run, count);
  await compareMovements(context, run, count);
  await compareUndecided(context, run);
  await compareUnlinked(context, run, count);
  return run.totals;
}

async function compareLines(context: ReconciliationContext, run: Run, count: (records: number) => void): Promise<void> {
  const { railAccount } = run.account;
  const pages = pagesOf<LineSubject>(pageSubjects, (last) =>
    listSubjectsOfDay(context.db, railAccount, run.day, last?.id ?? null, pageSubjects),
  );
  for await (const subjects of pages) {
    await judgeSubjects(context, run, await loadCompared(context, railAccount, subjects, run));
    count(subjects.length);
  }
}

/** Records without a line on this day; a record with several movements is compared with its first. */
async function compareMovements(
  context: ReconciliationContext,
  run: Run,
  count: (records: number) => void,
): Promise<void> {
  const { start, end, account } = run;
  const float = `float:${account.railAccount}`;
  const idMax = firstIdAt(addMs(end, idLagMs));
  for (const merchantId of await listMerchantsOnFloat(context.db, float)) {
    const query = { merchantId, float, start, end, idMax, rowsMax: pageSubjects };
    const pages = pagesOf<DayMovement>(pageSubjects, (last) =>
      listDayMovements(context.db, { ...query, after: last?.id ?? firstIdAt(start) }),
    );
    for await (const movements of pages) {
      const ids = new Set(movements.map(({ id }) => id));
      const all = subjectsOf(merchantId, movements);
      const withLines = new Set(await listSubjectsWithLines(context.db, account.railAccount, run.day, [...all.keys()]));
      const subjects = [...all.values()].filter(({ id }) => !withLines.has(id));
      const loaded = await loadCompared(context, account.railAccount, subjects, run);
      const first = loaded.filter((each) => ids.has(firstMovementOf(each) ?? ''));
      await judgeSubjects(context, run, first);
      count(first.length);
    }
  }
}

function subjectsOf(merchantId: string, movements: readonly DayMovement[]): Map<string, LineSubject> {
  const subjects = new Map<string, LineSubject>();
  for (const { sourceType: type, sourceId: id } of movements) {
    if (type === 'charge' || type === 'transfer') subjects.set(id, { merchantId, type, id });
  }
  return subjects;
}

function hasLineOn({ lines }: LoadedSubject, { start, end }: Run): boolean {
  return lines.some(({ at }) => at >= start && at < end);
}

/** The first of the day under the record itself. */
function firstMovementOf({ movements, subject }: LoadedSubject): string | null {
  const ids = movements.flatMap(({ sourceId, firstId }) =>
    sourceId === subject.id && firstId !== null ? [firstId] : [],
  );
  return ids.toSorted()[0] ?? null;
}

/** What an earlier run left, and neither a line nor a movement of this day has led to. */
async function compareUndecided(context: ReconciliationContext, run: Run): Promise<void> {
  const { railAccount } = run.account;
  const seen = new Set<string>();
  const pages = pagesOf<Difference>(pageSubjects, (last) =>
    listUndecided(context.db, railAccount, { day: run.day, after: last?.id ?? null, rowsMax: pageSubjects }),
  );
  for await (const page of pages) {
    // One page at most; a record has a few differences, whose ids are far apart.
    const fresh = page.filter(({ subjectId }) => !seen.has(subjectId));
    for (const { subjectId } of fresh) seen.add(subjectId);
    const subjects = [...new Map(fresh.map((each) => [each.subjectId, each])).values()];
    const records = subjects.flatMap(({ merchantId, subjectType: type, subjectId: id }) =>
      type === 'line' ? [] : [{ merchantId, type, id }],
    );
    const loaded = await loadCompared(context, railAccount, records, run);
    await judgeSubjects(
      context,
      run,
      loaded.filter((each) => !hasLineOn(each, run) && firstMovementOf(each) === null),
    );
    const lineIds = subjects.flatMap(({ subjectType, subjectId }) => (subjectType === 'line' ? [subjectId] : []));
    const lines = await findLines(context.db, railAccount, lineIds);
    await judgeLines(
      context,
      run,
      // Those of the day that have no record come after this.
      lines.filter(({ at, subject }) => at < run.start || (at < run.end && subject !== null)),
    );
  }
}

/** Lines that belong to no record. */
async function compareUnlinked(
  context: ReconciliationContext,
  run: Run,
  count: (records: number) => void,
): Promise<void> {
  const { railAccount } = run.account;
  const pages = pagesOf<StatementLine>(pageSubjects, (last) =>
    listUnlinkedLines(context.db, railAccount, run.day, last?.id ?? null, pageSubjects),
  );
  for await (const lines of pages) {
    await judgeLines(context, run, lines);
    count(lines.length);
  }
}
