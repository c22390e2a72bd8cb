import { listCasesOfSubject } from '../cases/list-cases.ts';
import type { Case } from '../cases/case.ts';
import type { Transaction } from '../kit/db.ts';
import { endAttempt } from './apply-refusal.ts';
import type { Charge, ChargeFailureCode } from './charge.ts';
import { changeCharge, changeIntent } from './charge-outcome.ts';
import type { LockedPayment } from './charge-outcome.ts';
import type { PaymentContext } from './context.ts';
import type { Intent, Review } from './intent.ts';
import { listChargesOfIntent } from './queries/charges.ts';

const reviews: readonly string[] = ['amount_mismatch', 'second_success', 'receipt_reused'] satisfies Review[];

/** Why a charge waits for a person still, once some of its cases are closed. */
export function openReview(cases: readonly Case[], closed: readonly string[]): Review | null {
  const open = cases.filter(({ id, status }) => status === 'open' && !closed.includes(id));
  return (open.findLast(({ kind }) => reviews.includes(kind))?.kind as Review | undefined) ?? null;
}

/** What came for an attempt that is not paid and still waits for a person; null where nothing does. */
function waitingMinor(charge: Charge, cases: readonly Case[], closed: readonly string[]): bigint | null {
  const waiting = cases.filter(
    ({ id, kind, status, currency }) =>
      status === 'open' && !closed.includes(id) && kind === 'amount_mismatch' && currency === charge.currency,
  );
  return waiting.length === 0 ? null : waiting.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
}

/**
 * A case was resolved without paying its charge: the attempt ends, unless something else of it waits for a person or it
 * has ended before, and the intent goes on. One whose time has passed meanwhile expires at the next sweep.
 */
export async function endUnpaid(
  tx: Transaction,
  context: PaymentContext,
  locked: LockedPayment,
  ending: {
    cases: readonly Case[];
    closed: readonly string[];
    failure: { code: ChargeFailureCode; reason: string };
  },
): Promise<void> {
  const review = openReview(ending.cases, ending.closed);
  const intent = await endIntentReview(tx, context, locked.intent, ending.closed);
  const { charge } = locked;
  const amountReceivedMinor =
    charge.paidAt === null ? waitingMinor(charge, ending.cases, ending.closed) : charge.amountReceivedMinor;
  const payment = { ...locked, intent };
  if (charge.status === 'pending' && review === null) {
    await endAttempt(tx, context, { ...payment, charge: { ...charge, amountReceivedMinor } }, ending.failure);
  } else if (charge.review !== review || charge.amountReceivedMinor !== amountReceivedMinor) {
    await changeCharge(tx, context, payment, { review, amountReceivedMinor }, null);
  }
}

/** An intent is under review as long as money of another amount waits on any of its attempts. */
async function endIntentReview(
  tx: Transaction,
  context: PaymentContext,
  intent: Intent,
  closed: readonly string[],
): Promise<Intent> {
  if (intent.review === null) return intent;
  for (const charge of await listChargesOfIntent(tx, intent.merchantId, intent.id)) {
    const cases = await listCasesOfSubject(tx, intent.merchantId, charge.id);
    const waits = cases.some(
      ({ id, kind, status }) => status === 'open' && kind === 'amount_mismatch' && !closed.includes(id),
    );
    if (waits) return intent;
  }
  return changeIntent(tx, context, intent, { review: null });
}
