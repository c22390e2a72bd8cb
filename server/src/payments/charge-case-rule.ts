import type { Case } from '../cases/case.ts';
import { listCasesOfSubject } from '../cases/list-cases.ts';
import type { CaseResolver, Confirmation, ReportedMoney } from '../cases/resolution.ts';
import type { Transaction } from '../kit/db.ts';
import { changeCharge, changeIntent, endAttempt, type LockedPayment } from './change-payment.ts';
import type { Charge, ChargeFailureCode } from './charge.ts';
import type { PaymentContext } from './context.ts';
import type { Intent, Review } from './intent.ts';
import { listChargesOfIntent } from './queries/charges.ts';

/** A case about a charge, with what a rule judges it by. */
export interface Situation {
  found: Case;
  charge: Charge;
  /** Every case about this charge, open or not. */
  cases: Case[];
}

/** One way to resolve one kind of case about a charge. */
export interface ChargeCaseRule extends Pick<CaseResolver, 'kind' | 'resolution' | 'effect'> {
  /** The note in the timeline, which the merchant reads; null where nothing changes for the merchant. */
  note: string | null;
  needsMoney?: true;
  /** Why it is not possible now, in a sentence. Checked when it is shown and proposed, and again under the lock. */
  refusal(situation: Situation): string | null;
  /** Does what comes before the transaction. Returns what is done in it, with the payment locked. */
  begin(context: PaymentContext, situation: Situation, reported: ReportedMoney | null): Promise<ChargeCarryOut>;
}

export type ChargeCarryOut = (tx: Transaction, locked: LockedPayment, step: ChargeStep) => Promise<void>;

export interface ChargeStep {
  situation: Situation;
  confirmation: Confirmation;
}

const reviews: readonly string[] = ['amount_mismatch', 'second_success', 'receipt_reused'] satisfies Review[];

/** Why a charge is still under review once the cases with the ids `closed` are resolved; null where it no longer is. */
export function remainingReview(cases: readonly Case[], closed: readonly string[]): Review | null {
  const open = openCases(cases, closed);
  return (open.findLast(({ kind }) => reviews.includes(kind))?.kind as Review | undefined) ?? null;
}

function openCases(cases: readonly Case[], closed: readonly string[]): Case[] {
  return cases.filter(({ id, status }) => status === 'open' && !closed.includes(id));
}

/** What an unpaid attempt still has in `suspense`, in bututs; null for nothing. */
function suspendedMinor(charge: Charge, cases: readonly Case[], closed: readonly string[]): bigint | null {
  const mismatches = openCases(cases, closed).filter(
    ({ kind, currency }) => kind === 'amount_mismatch' && currency === charge.currency,
  );
  return mismatches.length === 0 ? null : mismatches.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
}

/**
 * Ends the review of a charge that a case's resolution did not pay: the attempt ends, unless another case is open or it had
 * ended before, and the payer may try again. An intent whose time has passed meanwhile expires at the next sweep.
 */
export async function endUnpaid(
  tx: Transaction,
  context: PaymentContext,
  locked: LockedPayment,
  {
    cases,
    closed,
    failure,
  }: {
    cases: readonly Case[];
    closed: readonly string[];
    failure: { code: ChargeFailureCode; reason: string };
  },
): Promise<void> {
  const review = remainingReview(cases, closed);
  const payment = { ...locked, intent: await endIntentReview(tx, context, locked, closed) };
  const { charge } = locked;
  const amountReceivedMinor =
    charge.paidAt === null ? suspendedMinor(charge, cases, closed) : charge.amountReceivedMinor;
  if (charge.status === 'pending' && review === null) {
    await endAttempt(tx, context, { ...payment, charge: { ...charge, amountReceivedMinor } }, failure);
  } else if (charge.review !== review || charge.amountReceivedMinor !== amountReceivedMinor) {
    await changeCharge(tx, context, payment, { review, amountReceivedMinor }, null);
  }
}

/** An intent is under review while any of its attempts has a case of another amount. */
async function endIntentReview(
  tx: Transaction,
  context: PaymentContext,
  payment: LockedPayment,
  closed: readonly string[],
): Promise<Intent> {
  const { intent } = payment;
  if (intent.review === null) return intent;
  for (const charge of await listChargesOfIntent(tx, intent.merchantId, intent.id)) {
    const cases = await listCasesOfSubject(tx, intent.merchantId, charge.id);
    if (openCases(cases, closed).some(({ kind }) => kind === 'amount_mismatch')) return intent;
  }
  return changeIntent(tx, context, payment, { review: null }, null);
}
