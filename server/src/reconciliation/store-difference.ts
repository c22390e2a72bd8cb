import { openCase } from '../cases/open-case.ts';
import { closeAgreedCase } from '../cases/close-agreed-case.ts';
import type { CaseKind } from '../cases/case.ts';
import { acquireAdvisoryLock } from '../database/advisory-lock.ts';
import { utcDay } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import { moneyText } from '../kit/money.ts';
import type { DifferenceClass, Finding } from './compare.ts';
import type { ReconciliationContext } from './context.ts';
import type { OwnRecord } from './queries/books.ts';
import type { Difference } from './difference.ts';
import { lockDifferences, upsertDifference } from './queries/differences.ts';
import type { StatementLine } from './statement-line.ts';

/** The kind of case of each class. */
export function caseKindOf(differenceClass: DifferenceClass): CaseKind {
  return `statement_${differenceClass}`;
}

/** What storing a difference needs to know beside the finding. */
export interface FoundDifference {
  railAccount: string;
  currency: string;
  subject: { merchantId: string; type: Difference['subjectType']; id: string };
  day: string;
  finding: Finding;
  state: Difference['state'];
  resolution: string | null;
  summary: string;
  /** Whether it may open a case; a run opens a limited number. */
  opensCase: boolean;
}

/**
 * Stores a difference in the caller's transaction, with its case. `stored` is the same difference as an earlier run left it: one
 * that two operators decided stays decided while its amounts are the same.
 */
export async function storeDifference(
  tx: Transaction,
  context: ReconciliationContext,
  stored: Difference | undefined,
  found: FoundDifference,
): Promise<{ difference: Difference; isNew: boolean; openedCase: boolean }> {
  const { finding, subject, railAccount, currency, summary } = found;
  const { oursMinor, theirsMinor } = finding;
  const isUnchanged = stored?.oursMinor === oursMinor && stored.theirsMinor === theirsMinor;
  if (stored && isUnchanged && (isDecidedAs(stored, finding) || isAsFound(stored, found))) {
    return { difference: stored, isNew: false, openedCase: false };
  }
  const now = context.clock.now();
  const isResolved = found.state === 'resolved';
  const caseId = isUnchanged ? (stored?.caseId ?? null) : null;
  const difference: Difference = {
    ...{ railAccount, currency, summary, class: finding.class, state: found.state },
    ...{ id: stored?.id ?? context.newId(), day: stored?.day ?? found.day, caseId },
    ...{ subjectType: subject.type, subjectId: subject.id, merchantId: subject.merchantId },
    ...{ lineId: finding.line?.id ?? null, oursMinor, theirsMinor, resolution: found.resolution },
    ...{ resolvedDay: isResolved ? utcDay(now) : null, createdAt: stored?.createdAt ?? now, updatedAt: now },
  };
  const opensCase = found.state === 'open' && found.opensCase && caseId === null;
  const openedId = opensCase ? await openCaseOf(tx, context, difference, finding.line) : caseId;
  const withCase: Difference = { ...difference, caseId: openedId };
  await upsertDifference(tx, withCase);
  return { difference: withCase, isNew: stored === undefined, openedCase: opensCase };
}

// What ended by itself may begin again.
const ownResolutions: readonly (string | null)[] = ['agrees', 'booked'];

/** Whether two operators have decided this, of these amounts. */
export function isDecidedAs(stored: Difference, finding: Finding): boolean {
  const { class: kind, oursMinor, theirsMinor, state, resolution } = stored;
  const isSame = kind === finding.class && oursMinor === finding.oursMinor && theirsMinor === finding.theirsMinor;
  return isSame && state === 'resolved' && !ownResolutions.includes(resolution);
}

/**
 * The differences of a record or a line, which no other process stores, and no two operators decide, until the transaction ends.
 * Taken only where something differs, so the lock is rare.
 */
export async function lockDifferencesOf(
  tx: Transaction,
  railAccount: string,
  subjectId: string,
): Promise<Difference[]> {
  await acquireAdvisoryLock(tx, `reconcile ${railAccount} ${subjectId}`);
  return lockDifferences(tx, railAccount, subjectId);
}

/** Whether nothing needs to be written. */
function isAsFound(stored: Difference, found: FoundDifference): boolean {
  return stored.state === found.state && (found.state !== 'open' || stored.caseId !== null || !found.opensCase);
}

async function openCaseOf(
  tx: Transaction,
  context: ReconciliationContext,
  { id, merchantId, class: kind, oursMinor, theirsMinor, currency, summary }: Difference,
  line: StatementLine | null,
): Promise<string> {
  const caseId = context.newId();
  // What nobody claims is booked to unmatched, so both sides have it; the case is about all of it.
  const differing = kind === 'unknown' ? theirsMinor : theirsMinor - oursMinor;
  await openCase(
    tx,
    { ...context, newId: () => caseId },
    {
      ...{ merchantId, kind: caseKindOf(kind), subjectType: 'difference', subjectId: id },
      // Of one difference, each pair of amounts is decided once.
      reference: `${oursMinor} ${theirsMinor} ${caseId}`,
      ...(line && { transactionId: line.transactionId }),
      ...{ amountMinor: differing < 0n ? -differing : differing, currency, summary },
    },
  );
  return caseId;
}

/** Ends a difference that is none any more, with its case unless a resolution is proposed. */
export async function endDifference(
  tx: Transaction,
  context: Pick<ReconciliationContext, 'clock'>,
  difference: Difference,
  resolution: string,
): Promise<void> {
  await storeEnd(tx, context, difference, resolution);
  const { merchantId, caseId } = difference;
  if (caseId === null) return;
  await closeAgreedCase(tx, { merchantId, id: caseId, resolution, resolvedAt: context.clock.now() });
}

/** The same, where the caller closes the case. */
export async function storeEnd(
  tx: Transaction,
  { clock }: Pick<ReconciliationContext, 'clock'>,
  difference: Difference,
  resolution: string,
): Promise<void> {
  const now = clock.now();
  const ended = { state: 'resolved', resolution, resolvedDay: utcDay(now), updatedAt: now } as const;
  await upsertDifference(tx, { ...difference, ...ended });
}

/** What differs, in sentences for operators; what a network sent stands in the case's evidence, not here. */
export function describeFinding(
  record: OwnRecord,
  { class: kind, oursMinor, theirsMinor }: Finding,
  { railAccount, currency }: { railAccount: string; currency: string },
): string {
  const money = (amountMinor: bigint): string => moneyText({ currency, amountMinor });
  const what = `${record.type === 'charge' ? 'payment' : 'transfer'} ${record.name}, which is ${record.status}`;
  const requested = money(record.amountMinor);
  switch (kind) {
    case 'missing_here':
      return `The statement of ${railAccount} has ${money(theirsMinor)} for the ${what}. The ledger has nothing of it.`;
    case 'missing_there':
      return `The ledger has ${money(oursMinor)} for the ${what}. The statement of ${railAccount} has ${money(theirsMinor)}.`;
    case 'amount':
      return `The statement of ${railAccount} has ${money(theirsMinor)} for the ${what}. The ledger has ${money(oursMinor)}; ${requested} was requested.`;
    case 'fee':
      return `The statement of ${railAccount} has a fee of ${money(theirsMinor)} for the ${what}. The ledger has ${money(oursMinor)}.`;
    case 'status':
      return `The statement of ${railAccount} says that the ${what}, has failed. The ledger has ${money(oursMinor)}.`;
    case 'duplicate':
      return `The statement of ${railAccount} has ${money(theirsMinor)} in more than one transaction for the ${what}. The ledger has ${money(oursMinor)}.`;
    case 'reversed':
      return `The statement of ${railAccount} has a reversal of ${money(-theirsMinor)} for the ${what}. The ledger has ${money(-oursMinor)} of it.`;
    case 'unknown':
      return `The statement of ${railAccount} has ${money(theirsMinor)} that belongs to no record.`;
  }
}
