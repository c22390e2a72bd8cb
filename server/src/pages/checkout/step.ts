import type { CheckoutCharge, CheckoutView, OpenPrompt } from '../../payments/checkout-view.ts';

/** The states of a payment that was paid, in which the page is its receipt. */
export type ReceiptStep = 'paid' | 'partly_returned' | 'refunded' | 'reversed';

/** What the page shows. The script loads the page's main part again when it changes. */
export type StepName =
  | 'choose'
  | 'starting'
  | 'open_url'
  | 'approve_on_phone'
  | 'approve_then_confirm'
  | 'enter_code'
  | 'send_and_enter_id'
  | 'awaiting_receipt'
  | 'ids_refused'
  | 'asking'
  | 'review'
  | ReceiptStep
  | 'failed'
  | 'cancelled'
  | 'expired';

export function stepOf(view: CheckoutView): StepName {
  const { charge, status } = view;
  if (status === 'successful') return receiptStep(charge);
  // Takes precedence over the intent's status: a payer whose money arrived must not read "expired".
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

/** A receipt says for ever what became of the money. */
function receiptStep(charge: CheckoutCharge | null): ReceiptStep {
  if (charge === null) return 'paid';
  if (charge.status === 'reversed' || charge.status === 'refunded') return charge.status;
  return charge.amountRefundedMinor + charge.amountReversedMinor > 0n ? 'partly_returned' : 'paid';
}

export function isReceipt(step: StepName): step is ReceiptStep {
  return step === 'paid' || step === 'partly_returned' || step === 'refunded' || step === 'reversed';
}

function processingStep(charge: CheckoutCharge | null): StepName {
  switch (charge?.progress) {
    case undefined:
    case 'created':
    case 'submitted':
      return 'starting';
    case 'awaiting_payer':
      return awaitingStep(charge);
    // With `final` the outcome is known, but not yet on the intent.
    case 'final':
    case 'unknown':
      return 'asking';
  }
}

function awaitingStep({ nextAction, typedId }: CheckoutCharge): StepName {
  if (nextAction?.type !== 'send_and_enter_id') return nextAction?.type ?? 'starting';
  if (typedId?.waitsFor) return 'awaiting_receipt';
  return typedId?.triesLeft === 0 ? 'ids_refused' : 'send_and_enter_id';
}

/**
 * The name of the state, the only thing that the status stream reveals about the payment. The attempt and the number of attempts
 * left make two refusals differ, and two attempts between which the payer changes; what was returned makes two refunds differ.
 */
export function stateName(view: CheckoutView): string {
  const step = stepOf(view);
  const { charge, attemptsLeft, openPrompts } = view;
  const returned = charge ? charge.amountRefundedMinor + charge.amountReversedMinor : 0n;
  // The warning goes when the attempt that was left has ended; what has ended unpaid says so once no attempt is open.
  const open = hasEndedUnpaid(step) ? openAttempts(view) : openPrompts;
  const warning = open.length === 0 ? '' : `-${open.length}`;
  if (isReceipt(step)) return `${step}-${returned}${warning}`;
  return `${step}-${attemptsLeft}-${charge?.attempt ?? 0}${typedIdState(charge)}${warning}`;
}

/** A typed id, what it waits for, and the tries left each change what the payer must do. */
function typedIdState(charge: CheckoutCharge | null): string {
  const typed = charge?.typedId;
  return typed ? `-${typed.waitsFor ?? 'id'}-${typed.triesLeft}` : '';
}

/** Steps in which the page waits for the network or the payer's phone. */
const waitingSteps: ReadonlySet<StepName> = new Set([
  'starting',
  'open_url',
  'approve_on_phone',
  'approve_then_confirm',
  'awaiting_receipt',
  'asking',
]);

export function isWaiting(step: StepName): boolean {
  return waitingSteps.has(step);
}

/** Whether the payer must act in time. False while the outcome is looked up, when a countdown would mislead. */
export function awaitsPayer(step: StepName): boolean {
  return canCancel(step) && step !== 'starting' && step !== 'awaiting_receipt' && step !== 'asking';
}

/** Whether the payer can still cancel the payment. */
export function canCancel(step: StepName): boolean {
  return step === 'choose' || step === 'enter_code' || step === 'send_and_enter_id' || isWaiting(step);
}

/**
 * Whether the page listens for changes. A payment that has ended changes only if an attempt was open: its late success counts
 * (docs/architecture.md, "States"), and the payer must see it. A receipt, which changes rarely, is polled slowly instead
 * (`live.js`).
 */
export function isLive(view: CheckoutView): boolean {
  const step = stepOf(view);
  if (isReceipt(step)) return false;
  return !hasEndedUnpaid(step) || hasOpenAttempt(view);
}

function hasEndedUnpaid(step: StepName): boolean {
  return step === 'failed' || step === 'cancelled' || step === 'expired';
}

/** Whether money can still move for an attempt whose outcome is unknown, also for one that the payer has left. */
export function hasOpenAttempt(view: CheckoutView): boolean {
  return openAttempts(view).length > 0;
}

/** The attempts that can still be paid; first the one that the payer has not left. */
export function openAttempts({ charge, openPrompts }: CheckoutView): readonly OpenPrompt[] {
  const isOpen = charge !== null && !charge.isAbandoned && charge.status === 'pending' && charge.progress !== 'final';
  return isOpen ? [charge, ...openPrompts] : openPrompts;
}
