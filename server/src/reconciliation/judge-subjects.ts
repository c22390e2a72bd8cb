import { bookUnreportedFees } from './book-fee.ts';
import { bookLine, provesPayment } from './book-line.ts';
import type { Run } from './run.ts';
import { compare, imbalance, type Finding } from './compare.ts';
import type { ReconciliationContext } from './context.ts';
import { describeFinding, endDifference, isDecidedAs, lockDifferencesOf, storeDifference } from './store-difference.ts';
import { loadCompared, type LoadedSubject } from './load-compared.ts';

/** Compares records, books what their lines prove, stores what differs, and adds them up to the day's totals. */
export async function judgeSubjects(
  context: ReconciliationContext,
  run: Run,
  subjects: readonly LoadedSubject[],
): Promise<void> {
  const booked = await bookUnreportedFees(context, run, subjects);
  for (const read of subjects) {
    const loaded = booked.get(read.subject.id) ?? read;
    const findings = compare(loaded);
    if (findings.length === 0 && loaded.differences.every(({ state }) => state === 'resolved')) addUp(run, loaded, []);
    else await judge(context, run, loaded, findings);
  }
}

async function judge(
  context: ReconciliationContext,
  run: Run,
  loaded: LoadedSubject,
  findings: readonly Finding[],
): Promise<void> {
  const proof = findings.find((finding) => provesPayment(loaded.record, finding));
  if (proof?.line) {
    await bookLine(context, loaded.record, proof.line);
    const [after] = await loadCompared(context, run.account.railAccount, [loaded.subject], run);
    const left = after ? compare(after) : findings;
    const isBooked = !left.some((finding) => finding.class === 'missing_here');
    if (after && isBooked) {
      await store(context, run, after, [...left, proof], proof);
      // As the day was: the line was there, and the ledger had nothing of it yet.
      addUp(run, after, [...left, proof]);
      return;
    }
  }
  if (loaded.differences.length > 0 || run.casesLeft > 0) await store(context, run, loaded, findings, null);
  addUp(run, loaded, findings);
}

/** Each difference with its case in one transaction, of one merchant. */
async function store(
  context: ReconciliationContext,
  run: Run,
  { subject, record, movements }: LoadedSubject,
  findings: readonly Finding[],
  booked: Finding | null,
): Promise<void> {
  const { railAccount, currency } = run.account;
  await context.db.withTransaction(async (tx) => {
    const differences = await lockDifferencesOf(tx, railAccount, subject.id);
    for (const finding of findings) {
      const stored = differences.find((each) => each.class === finding.class);
      const state = finding === booked ? 'resolved' : stateOf(run, finding, movements);
      const { openedCase, isNew } = await storeDifference(tx, context, stored, {
        ...{ railAccount, currency, subject, finding, state, day: run.day, opensCase: run.casesLeft > 0 },
        resolution: finding === booked ? 'booked' : null,
        summary: describeFinding(record, finding, { railAccount, currency }),
      });
      // What is booked needs nobody.
      if (openedCase || (isNew && state !== 'resolved')) run.casesLeft -= 1;
    }
    for (const difference of differences) {
      const isLeft = findings.some((finding) => finding.class === difference.class);
      if (!isLeft && difference.state !== 'resolved') await endDifference(tx, context, difference, 'agrees');
    }
  });
}

/** What was booked just now may stand in the next statement. */
function stateOf({ coveredUntil }: Run, { mayBeInTransit }: Finding, movements: LoadedSubject['movements']) {
  const isYoung = movements.some(({ lastAt }) => lastAt > coveredUntil);
  return mayBeInTransit && isYoung ? 'in_transit' : 'open';
}

function addUp(run: Run, loaded: LoadedSubject, findings: readonly Finding[]): void {
  const { totals, start, end } = run;
  totals.listedMinor += imbalance(loaded, { before: end, sum: 'beforeEnd' });
  totals.listedAtStartMinor += imbalance(loaded, { before: start, sum: 'beforeStart' });
  const isOfDay = loaded.lines.some(({ at }) => at >= start && at < end);
  if (findings.length === 0 && isOfDay) totals.matched += 1n;
  for (const finding of findings) {
    if (loaded.differences.some((stored) => isDecidedAs(stored, finding))) continue;
    if (stateOf(run, finding, loaded.movements) === 'in_transit') totals.inTransit += 1n;
    else totals.differences[finding.class] = (totals.differences[finding.class] ?? 0) + 1;
  }
}
