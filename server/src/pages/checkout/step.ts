import type { CheckoutCharge, CheckoutView } from '../../payments/checkout-view.ts';

/** What the page is about. Each has its own words, and the script loads the page's main part when it changes. */
export type StepName =
  | 'choose'
  | 'starting'
  | 'open_url'
  | 'approve_on_phone'
  | 'approve_then_confirm'
  | 'enter_code'
  | 'asking'
  | 'review'
  | 'paid'
  | 'reversed'
  | 'failed'
  | 'cancelled'
  | 'expired';

export function stepOf(view: CheckoutView): StepName {
  const { charge, status } = view;
  if (status === 'successful') return charge?.status === 'reversed' ? 'reversed' : 'paid';
  // Before what the intent says: money that arrived and does not match is not "expired" to the one who paid it.
  if (charge?.underReview === true) return 'review';
  switch (status) {
    case 'requires_payment_method':
      return 'choose';
    case 'processing':
      return processingStep(charge);
    case 'failed':
    case 'cancelled':
    case 'expired':
      return status;
  }
}

function processingStep(charge: CheckoutCharge | null): StepName {
  switch (charge?.progress) {
    case undefined:
    case 'created':
    case 'submitted':
      return 'starting';
    case 'awaiting_payer':
      return charge?.nextAction?.type ?? 'starting';
    // The outcome is known and the intent is about to say so; until then nothing is claimed.
    case 'final':
    case 'unknown':
      return 'asking';
  }
}

/**
 * The name of what is shown, and nothing else about the payment: the stream of states tells it to anyone who has the
 * address. The number of tries left tells two refusals, one after the other, apart.
 */
export function stateName(view: CheckoutView): string {
  return `${stepOf(view)}-${view.attemptsLeft}`;
}

/** Steps in which only the network or the payer's phone moves things on. */
const waitingSteps: ReadonlySet<StepName> = new Set([
  'starting',
  'open_url',
  'approve_on_phone',
  'approve_then_confirm',
  'asking',
]);

export function isWaiting(step: StepName): boolean {
  return waitingSteps.has(step);
}

/** Whether something is to be done before the time is over; while a network is asked, hurrying would only mislead. */
export function awaitsPayer(step: StepName): boolean {
  return canCancel(step) && step !== 'starting' && step !== 'asking';
}

/** Whether the payer may still call the payment off. */
export function canCancel(step: StepName): boolean {
  return step === 'choose' || step === 'enter_code' || isWaiting(step);
}

/**
 * Whether the page still listens. What has ended stays as it is, except where an attempt was under way: its late
 * success counts (docs/architecture.md, "States"), and the payer must see it.
 */
export function isLive(view: CheckoutView): boolean {
  const step = stepOf(view);
  if (step === 'paid' || step === 'reversed') return false;
  if (step === 'failed' || step === 'cancelled' || step === 'expired') return hasOpenAttempt(view);
  return true;
}

/** Whether money may still move for an attempt whose end is not known. */
export function hasOpenAttempt(view: CheckoutView): boolean {
  return view.charge !== null && view.charge.status === 'pending' && view.charge.progress !== 'final';
}
