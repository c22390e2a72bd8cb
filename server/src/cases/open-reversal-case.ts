import type { Clock } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import type { Log } from '../kit/log.ts';
import { openCase } from './open-case.ts';
import type { Case, NewCase } from './case.ts';
import { countReportOfCase, listCasesOfSubject } from './queries.ts';

/** What a network reports to have reversed of a payment or a payout. */
export interface Reversal {
  /** The network's transaction that had moved the money. */
  transactionId: string;
  /** In bututs. */
  amountMinor: bigint;
  currency: string;
  /** The network's own id of this reversal, the same on each repetition of the report; null where it gives none. */
  reversalId: string | null;
}

/** Whether a case is one of money that a network reversed, all of it or a part. */
export function isReversalCase({ kind }: Pick<Case, 'kind'>): boolean {
  return kind === 'network_reversal' || kind === 'partial_reversal';
}

/**
 * Opens the case of a reversal that a rule may not book, once. Several parts of one transaction may have the same amount, and the reversal's
 * own id tells them apart. A report without an id may repeat an open case's, on which it is counted and logged, so that
 * it is neither lost nor booked twice; once that case is resolved, it is a new case. The caller holds the record's lock.
 */
export async function openReversalCase(
  tx: Transaction,
  context: { clock: Clock; newId: () => string; log: Log },
  about: Pick<NewCase, 'merchantId' | 'subjectType' | 'subjectId' | 'summary'> & {
    kind: 'network_reversal' | 'partial_reversal';
  },
  { transactionId, amountMinor, currency, reversalId }: Reversal,
): Promise<void> {
  const { merchantId, subjectId, subjectType } = about;
  const reversals = (await listCasesOfSubject(tx, merchantId, subjectId)).filter(
    (found) => isReversalCase(found) && found.transactionId === transactionId,
  );
  if (reversalId !== null && reversals.some(({ reference }) => reference === reversalId)) return;
  const alike = reversals.filter((found) => found.amountMinor === amountMinor && found.currency === currency);
  const open = alike.find(({ status }) => status === 'open');
  if (reversalId === null && open) {
    await countReportOfCase(tx, open);
    // A look-up reports the same each time: only the first of them is news in the log.
    if (open.reportedAgain > 0n) return;
    const fields = { merchant_id: merchantId, [`${subjectType}_id`]: subjectId, case_id: open.id };
    tx.afterCommit(() => context.log.warn('a network reported a reversal again, without an id', fields));
    return;
  }
  const earlier = alike.at(-1);
  const doubt = `It had reported the same amount before, in case ${earlier?.id}: ask it whether this is another.`;
  await openCase(tx, context, {
    ...about,
    reference: reversalId ?? (reversals.length === 0 ? transactionId : context.newId()),
    transactionId,
    amountMinor,
    currency,
    summary: earlier ? `${about.summary} ${doubt}` : about.summary,
  });
}
