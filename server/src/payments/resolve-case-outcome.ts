import type { ReportedMoney } from '../cases/resolution.ts';
import { AppError } from '../api/app-error.ts';
import { claimFor, settleSuccess } from './apply-success.ts';
import type { Charge } from './charge.ts';
import { changeCharge, endAttempt } from './change-payment.ts';
import {
  endUnpaid,
  remainingReview,
  type ChargeCarryOut,
  type ChargeCaseRule,
  type Situation,
} from './charge-case-rule.ts';
import { connectorOf } from './connector-of.ts';
import type { PaymentContext } from './context.ts';

// Cases in which no money was booked: a transaction that had settled something else, and an outcome never reported.

const reusedNotPaid: ChargeCaseRule = {
  kind: 'receipt_reused',
  resolution: 'not_paid',
  effect: 'Nothing was received for this payment and nothing is booked. The attempt fails; the payer may try again.',
  note: 'Nothing was received for this attempt.',
  refusal: ({ found, charge, cases }) => {
    if (charge.status !== 'pending') return `The attempt is ${charge.status} already: acknowledge the case instead.`;
    // Several of this kind do not block each other: the attempt fails with the last.
    const other = remainingReview(
      cases.filter(({ kind }) => kind !== found.kind),
      [],
    );
    return other === null ? null : `The attempt is also under review because of ${other}: resolve that case first.`;
  },
  begin: (context) =>
    Promise.resolve((tx, locked, { situation: { found, cases } }) => {
      const reason = 'The network named a transaction that had paid something else. Nothing was received.';
      return endUnpaid(tx, context, locked, { cases, closed: [found.id], failure: { code: 'not_paid', reason } });
    }),
};

const reusedAcknowledged: ChargeCaseRule = {
  kind: 'receipt_reused',
  resolution: 'acknowledge',
  effect: 'The attempt has ended in another way. Nothing is booked and nothing changes.',
  note: null,
  refusal: ({ charge }) =>
    charge.status === 'pending' ? 'The attempt has not ended: resolve the case as not_paid.' : null,
  begin: (context) => Promise.resolve(clearReview(context)),
};

const unknownPaid: ChargeCaseRule = {
  kind: 'outcome_unknown',
  resolution: 'paid',
  effect: 'It was paid, booked as if the network had reported it: float to the fee and the merchant’s balance.',
  note: 'The network was asked and confirmed that it was paid.',
  needsMoney: true,
  refusal: refuseKnownOutcome,
  begin: (context, { charge }, reported) => payAsReported(context, charge, reported),
};

const unknownNotPaid: ChargeCaseRule = {
  kind: 'outcome_unknown',
  resolution: 'not_paid',
  effect: 'It was not paid. Nothing is booked; the attempt fails.',
  note: 'The network was asked and confirmed that nothing was paid.',
  refusal: refuseKnownOutcome,
  begin: (context) =>
    Promise.resolve((tx, locked) => {
      const reason = 'The network confirmed later that nothing was paid.';
      return endAttempt(tx, context, locked, { code: 'not_paid', reason });
    }),
};

const unknownAcknowledged: ChargeCaseRule = {
  kind: 'outcome_unknown',
  resolution: 'acknowledge',
  effect: 'The network has responded meanwhile, and that was booked. Nothing else changes.',
  note: null,
  refusal: (situation) =>
    refuseKnownOutcome(situation) === null ? 'The network has not responded: resolve it as paid or not_paid.' : null,
  begin: () => Promise.resolve(() => Promise.resolve()),
};

const contestedAcknowledged: ChargeCaseRule = {
  kind: 'receipt_contested',
  resolution: 'acknowledge',
  effect: 'The merchant has decided which payment the money belongs to, or that it belongs to none. Nothing is booked.',
  note: null,
  refusal: () => null,
  begin: () => Promise.resolve(() => Promise.resolve()),
};

export const outcomeRules: readonly ChargeCaseRule[] = [
  contestedAcknowledged,
  reusedNotPaid,
  reusedAcknowledged,
  unknownPaid,
  unknownNotPaid,
  unknownAcknowledged,
];

function refuseKnownOutcome({ charge }: Situation): string | null {
  if (charge.status !== 'pending') {
    return `The network has responded meanwhile and the attempt is ${charge.status}: acknowledge the case instead.`;
  }
  if (charge.review === null) return null;
  return `The network has responded meanwhile and the attempt is under review (${charge.review}): acknowledge this case.`;
}

function clearReview(context: PaymentContext): ChargeCarryOut {
  return async (tx, locked, { situation: { found, cases } }) => {
    const review = remainingReview(cases, [found.id]);
    if (review !== locked.charge.review) await changeCharge(tx, context, locked, { review }, null);
  };
}

/** As for a verified success: another amount than requested still opens its own case. */
async function payAsReported(
  context: PaymentContext,
  charge: Charge,
  reported: ReportedMoney | null,
): Promise<ChargeCarryOut> {
  if (reported === null) throw new AppError('state_conflict', 'The proposal names no transaction of the network.');
  const { railAccount, displayName: networkName } = (await connectorOf(context, charge)).capabilities;
  const providerTransaction = {
    transactionId: reported.transactionId,
    networkReference: charge.networkReference ?? reported.transactionId,
    amountMinor: reported.amountMinor,
    currency: charge.currency,
    networkFeeMinor: 0n,
    payerNumber: charge.accountCanonical,
  };
  return async (tx, locked) => {
    const collection = await claimFor(tx, context, charge, { railAccount, networkName, providerTransaction });
    if (!collection.claimed) {
      const message = `The network's transaction ${reported.transactionId} has settled something else: it pays nothing here.`;
      throw new AppError('state_conflict', message);
    }
    await settleSuccess(tx, context, locked, collection);
  };
}
