import type { Queryable } from '../kit/db.ts';
import type { ReconciliationContext } from './context.ts';
import { listSentRefunds, type SentRefund } from './queries/books.ts';
import { listLinesOfSubjects } from './queries/lines.ts';
import type { LineSubject, StatementLine } from './statement-line.ts';

/** Networks state a refund as one, as a reversal, or as any other payment. */
export function isMoneyBack({ kind, netMinor }: StatementLine): boolean {
  return kind !== 'fee' && netMinor < 0n;
}

/**
 * The refunds, the oldest first, that lines of these owners may be of: no line of theirs is known yet, and their success is not
 * either. The success of one that reverses the payment may have another id there.
 */
export async function listRefundsWithoutLine(
  { db, networks }: Pick<ReconciliationContext, 'db' | 'networks'>,
  railAccount: string,
  owners: readonly (LineSubject | undefined)[],
): Promise<SentRefund[]> {
  const charges = new Map<string, LineSubject>();
  for (const owner of owners) if (owner?.type === 'charge') charges.set(owner.id, owner);
  if (charges.size === 0) return [];
  const refunds = await listSentRefunds(db, railAccount, [...charges.values()]);
  const shown = await findRefundsWithLine(db, railAccount, refunds);
  for (const owner of owners) if (owner?.type === 'transfer') shown.add(owner.id);
  return refunds.filter(({ id, network, isSettled }) => {
    const isReversal = networks.find({ railAccount, network })?.refunds?.capabilities.reversesCollection === true;
    return !shown.has(id) && (!isSettled || isReversal);
  });
}

/** The ids of those refunds that a line is known of. */
export async function findRefundsWithLine(
  db: Queryable,
  railAccount: string,
  refunds: readonly SentRefund[],
): Promise<Set<string>> {
  if (refunds.length === 0) return new Set();
  const ids = refunds.map(({ id }) => id);
  const known = await listLinesOfSubjects(db, railAccount, ids);
  return new Set(known.filter(isMoneyBack).flatMap(({ subject }) => (subject ? [subject.id] : [])));
}

/**
 * A refund's line names the payment, by its transaction or by our reference. Where we have sent that refund and its success is not
 * known yet, it is the refund's: as the payment's it would count as a reversal, which takes the money back a second time. A refund
 * that has failed is only what the network states as a refund: anything else is a reversal of its own. Each line takes its own from
 * `refunds`, the oldest first.
 */
export function takeRefundOf(
  line: StatementLine,
  charge: LineSubject | undefined,
  refunds: SentRefund[],
): LineSubject | undefined {
  if (charge?.type !== 'charge' || !isMoneyBack(line)) return undefined;
  const index = refunds.findIndex(
    ({ chargeId, status, amountMinor, currency }) =>
      (status !== 'failed' || line.kind === 'refund') &&
      chargeId === charge.id &&
      amountMinor === line.grossMinor &&
      currency === line.currency,
  );
  const [found] = index === -1 ? [] : refunds.splice(index, 1);
  return found && { merchantId: found.merchantId, type: 'transfer', id: found.id };
}
