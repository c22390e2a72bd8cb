import type { Clock } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import { openCase } from './open-case.ts';
import type { Case, NewCase } from './case.ts';
import { closeCase, listCasesOfSubject, lockOpenCasesOfSubject, updateCaseSum } from './queries.ts';

/** The subject of a case that is open while a sum is above zero. */
export type SumSubject = Pick<NewCase, 'merchantId' | 'kind' | 'subjectType' | 'subjectId' | 'currency'>;

/** The resolution of such a case when its sum reaches zero without a decision. */
const repaidResolution = 'repaid';

/**
 * Keeps one case open while a sum is above zero: opens it, updates its amount unless a resolution is proposed, and closes it
 * when the sum is zero. `measure` locks the sum, after the open cases are locked and before a new one is opened, so that
 * concurrent calls open one case. Returns whether anything changed.
 */
export async function syncSumCase(
  tx: Transaction,
  context: { clock: Clock; newId: () => string },
  subject: SumSubject,
  measure: () => Promise<{ amountMinor: bigint; summary: string }>,
): Promise<boolean> {
  const { merchantId, subjectId } = subject;
  const isItsCase = (found: Case): boolean =>
    found.kind === subject.kind && found.currency === subject.currency && found.status === 'open';
  await lockOpenCasesOfSubject(tx, merchantId, subjectId);
  const { amountMinor, summary } = await measure();
  const found = (await listCasesOfSubject(tx, merchantId, subjectId)).find(isItsCase);
  if (!found) {
    if (amountMinor === 0n) return false;
    return openCase(tx, context, { ...subject, reference: context.newId(), amountMinor, summary });
  }
  const { id, proposalId } = found;
  if (amountMinor === 0n) {
    await closeCase(tx, { merchantId, id, resolution: repaidResolution, resolvedAt: context.clock.now() });
    return true;
  }
  if (found.amountMinor === amountMinor || proposalId !== null) return false;
  return (await updateCaseSum(tx, { merchantId, id, amountMinor, summary })) === 1;
}
