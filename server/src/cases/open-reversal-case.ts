import type { Clock } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import type { Log } from '../kit/log.ts';
import { openCase } from './open-case.ts';
import type { Case, NewCase } from './case.ts';
import { countReportOfCase, listCasesOfSubject } from './queries.ts';

/** A network's report that it reversed a payment or a payout, or a part of one. */
export interface Reversal {
  /** The network's transaction that was reversed. */
  transactionId: string;
  /** In bututs. */
  amountMinor: bigint;
  currency: string;
  /** The network's own id of this reversal, the same on each repetition of the report; null where it sends none. */
  reversalId: string | null;
}

/** Whether a case is about a reversal, whole or partial. */
export function isReversalCase({ kind }: Pick<Case, 'kind'>): boolean {
  return kind === 'network_reversal' || kind === 'partial_reversal';
}

/**
 * Opens the case of a reversal that needs a decision, once. Several parts of one transaction may have the same amount; the
 * reversal's own id distinguishes them. A report without an id may repeat that of an open case: it is counted on the case and
 * logged, so that it is neither lost nor booked twice. Once that case is resolved, the report opens a new one. The caller
 * holds the record's lock.
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
    // A look-up reports the same each time: only the first repetition is logged.
    if (open.reportedAgain > 0n) return;
    const fields = { merchant_id: merchantId, [`${subjectType}_id`]: subjectId, case_id: open.id };
    tx.afterCommit(() => context.log.warn('a network reported a reversal again, without an id', fields));
    return;
  }
  const earlier = alike.at(-1);
  const doubt = `It had reported the same amount before, in case ${earlier?.id}: ask it whether this is another reversal.`;
  await openCase(tx, context, {
    ...about,
    reference: reversalId ?? (reversals.length === 0 ? transactionId : context.newId()),
    transactionId,
    amountMinor,
    currency,
    summary: earlier ? `${about.summary} ${doubt}` : about.summary,
  });
}
