import { AppError, fieldError } from '../api/app-error.ts';
import type { Topic } from '../kit/changes.ts';
import { addMs } from '../kit/clock.ts';
import type { Queryable, TransactionCause } from '../kit/db.ts';
import { maskPhoneNumber } from '../kit/phone-number.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { abandonAttempt, canAbandon } from './abandon-attempt.ts';
import { applyResponse } from './apply-response.ts';
import { cancelPayment } from './cancel-payment.ts';
import { isOpenAbandoned, openAction, receivedMinor, type Charge } from './charge.ts';
import { noteChargeNow } from './charge-notes.ts';
import type { CheckoutCharge, CheckoutView, OpenPrompt } from './checkout-view.ts';
import { networkName } from '../networks/known-networks.ts';
import { connectorOf } from './connector-of.ts';
import { intentTopic, type PaymentContext } from './context.ts';
import { attemptsMax, statusAt, totalMinor, type Intent } from './intent.ts';
import { networksToChoose } from './networks-to-choose.ts';
import { findLastNoteTime } from './queries/charge-notes.ts';
import { findCurrentCharge, findRepresentativeCharge, listChargesOfIntent } from './queries/charges.ts';
import { findIntentByToken } from './queries/intents.ts';
import { upsertPageView } from './queries/page-views.ts';
import { startAttempt } from './start-attempt.ts';
import { submitTransactionId } from './submit-transaction-id.ts';
import { throwIfTypedWrong, typedIdOf } from './typed-id.ts';
import { returnLink } from './urls.ts';
import { shortCodeOf } from './transaction-reference.ts';

interface NetworkChoice {
  network: string;
  accountNumber: string | null;
}

/** What the hosted pages do with a payment, by the use-cases that the API calls. */
export interface Checkout {
  /** Undefined for a token that is not one of ours. */
  find(token: string): Promise<CheckoutView | undefined>;
  /**
   * Starts an attempt and waits a moment for what the payer has to do next, or goes back to an open attempt that the payer
   * had left with this network and number. Throws AppError with a field named `network` or `account_number` (400), or
   * `state_conflict` (409).
   */
  pay(token: string, choice: NetworkChoice, cause: TransactionCause): Promise<CheckoutView>;
  /**
   * The payment whose first attempt was created with it, after a moment for what the payer has to do next. Without an open
   * attempt there is nothing to wait for.
   */
  started(token: string): Promise<CheckoutView>;
  /** Takes the payer's code, or (null) that the approval is done. A wrong code is `invalid_request` on `code`. */
  proceed(token: string, code: string | null): Promise<CheckoutView>;
  /**
   * Leaves the open attempt with this id, to use another number or network. Throws `state_conflict` where it is not the current
   * one, or the view's `canChange` is false.
   */
  abandon(token: string, chargeId: string | null, cause: TransactionCause): Promise<CheckoutView>;
  /**
   * Takes the transaction id of what the payer has sent. A wrong one is `invalid_request` on `transaction_id`; `state_conflict` where
   * the attempt waits for none, or for no further one.
   */
  submitTransactionId(token: string, typed: string): Promise<CheckoutView>;
  cancel(token: string, cause: TransactionCause): Promise<CheckoutView>;
  /** Counts that somebody opened the page, for the payment's timeline. */
  countView(view: CheckoutView): Promise<void>;
  /** The topic of the change feed that announces changes of this view. */
  topic(view: CheckoutView): Topic;
}

// Most networks respond within a second with what the payer has to do: the page shows it at once, even without scripts.
const nextStepWaitMs = 1_500;
// The merchant's short id and 22 random characters; other tokens cost no query.
const tokenPattern = /^[0-9A-Za-z]{30}$/;

interface Found {
  merchant: Merchant;
  intent: Intent;
}

export function createCheckout(context: PaymentContext): Checkout {
  const find = async (token: string): Promise<Found | undefined> => {
    const merchant = tokenPattern.test(token) ? await context.merchants.byToken(token) : undefined;
    const intent = merchant && (await findIntentByToken(context.db, merchant.id, token));
    return merchant && intent && { merchant, intent };
  };
  const findOrThrow = async (token: string): Promise<Found> => {
    const found = await find(token);
    if (!found) throw new AppError('not_found', 'There is no such payment. Ask the shop for a new link.');
    return found;
  };
  const view = async (token: string): Promise<CheckoutView> => toView(context, await findOrThrow(token));

  return {
    find: async (token) => {
      const found = await find(token);
      return found && toView(context, found);
    },
    pay: async (token, choice, cause) => {
      const { merchant, intent } = await findOrThrow(token);
      const nextStep = waitForNextStep(context, intent, intent.attempts);
      try {
        const charge = await context.db.withTransaction(
          (tx) => startAttempt(tx, context, merchant, { intentId: intent.id, ...choice, fieldPrefix: '' }),
          cause,
        );
        // What the payer has to do for an attempt that was sent before is known already.
        if (charge.progress === 'created') await nextStep.reached;
      } finally {
        nextStep.end();
      }
      return view(token);
    },
    started: async (token) => {
      const { intent } = await findOrThrow(token);
      if (intent.status !== 'processing') return view(token);
      const nextStep = waitForNextStep(context, intent, 0n);
      try {
        // The network may have responded since the payment was created.
        await nextStep.look();
        await nextStep.reached;
      } finally {
        nextStep.end();
      }
      return view(token);
    },
    proceed: async (token, code) => {
      const { intent } = await findOrThrow(token);
      await continueAttempt(context, intent, code?.trim() ?? null);
      return view(token);
    },
    abandon: async (token, chargeId, cause) => {
      const { merchant, intent } = await findOrThrow(token);
      const attempt = { intentId: intent.id, chargeId };
      await context.db.withTransaction((tx) => abandonAttempt(tx, context, merchant, attempt), cause);
      return view(token);
    },
    submitTransactionId: async (token, typed) => {
      await submitTyped(context, await findOrThrow(token), typed);
      return view(token);
    },
    cancel: async (token, cause) => {
      const { merchant, intent } = await findOrThrow(token);
      await context.db.withTransaction((tx) => cancelPayment(tx, context, merchant, intent.id), cause);
      return view(token);
    },
    countView: (shown) => upsertPageView(context.db, shown, context.clock.now()),
    topic: ({ intentId }) => intentTopic(intentId),
  };
}

async function submitTyped(context: PaymentContext, { merchant, intent }: Found, typed: string): Promise<void> {
  const charge = await findCurrentCharge(context.db, merchant.id, intent.id);
  if (!charge) throw new AppError('state_conflict', 'This payment waits for no transaction id. Reload its page.');
  throwIfTypedWrong(await submitTransactionId(context, merchant, { intentId: intent.id, chargeId: charge.id, typed }));
}

// A payer who reports again and again reaches the network once in three seconds; the look-ups do the rest.
const reportEveryMs = 3_000;

/**
 * Sends the network the payer's code, or (null) that the approval is done. The code goes there once, from memory: it is
 * neither stored nor logged, and never sent again. On an intent that was cancelled or has expired both are refused: a page
 * that was left open must not collect anything.
 *
 * Throws AppError `state_conflict` when the attempt does not wait for it, and `invalid_request` on `code` when it was wrong.
 */
async function continueAttempt(context: PaymentContext, intent: Intent, code: string | null): Promise<void> {
  const now = context.clock.now();
  const charge = await findCurrentCharge(context.db, intent.merchantId, intent.id);
  const expected = code === null ? 'approve_then_confirm' : 'enter_code';
  const isProcessing = statusAt(intent, now) === 'processing';
  const isOpen = isProcessing && charge?.status === 'pending' && charge.abandonedAt === null;
  if (!isOpen || charge.nextAction?.type !== expected) {
    throw new AppError('state_conflict', 'This payment no longer waits for that. Reload its page.');
  }
  if (code === '') throw fieldError('invalid_request', 'code', 'Type the code that you were sent.');
  if (code === null) {
    const reportedAt = await findLastNoteTime(context.db, charge, 'approval_reported');
    if (reportedAt && addMs(reportedAt, reportEveryMs) > now) return;
  }
  const [kind, detail] =
    code === null
      ? (['approval_reported', 'The payer says that the approval is done.'] as const)
      : (['code_entered', 'The payer entered a code.'] as const);
  await noteChargeNow(context, charge, kind, detail);
  const connector = await connectorOf(context, charge);
  const response = await connector.collections.continue({
    reference: charge.reference,
    handles: charge.networkHandles ?? {},
    amountMinor: charge.amountPaidMinor,
    payerNumber: charge.accountCanonical,
    code,
  });
  await applyResponse(context, charge, response);
}

/** Watches one attempt of a payment. */
interface NextStep {
  reached: Promise<void>;
  look: () => Promise<void>;
  end: () => void;
}

/**
 * Ends when the network has responded to the attempt after the first `attemptsBefore`, or after a moment: the page is shown
 * either way.
 */
function waitForNextStep(context: PaymentContext, intent: Intent, attemptsBefore: bigint): NextStep {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timeout = new AbortController();
  const look = async (): Promise<void> => {
    const charge = await findCurrentCharge(context.db, intent.merchantId, intent.id);
    if (charge === undefined || charge.attempt <= attemptsBefore) return;
    const isStarting = charge.progress === 'created' || charge.progress === 'submitted';
    if (charge.status !== 'pending' || !isStarting) resolve();
  };
  const unsubscribe = context.changes.subscribe(intentTopic(intent.id), () => {
    look().catch((error: unknown) => context.log.error('looking at a new attempt failed', error));
  });
  void context.clock.sleep(nextStepWaitMs, timeout.signal).then(resolve);
  return {
    reached: promise,
    look,
    end: () => {
      unsubscribe();
      timeout.abort();
    },
  };
}

async function toView(context: PaymentContext, { merchant, intent }: Found): Promise<CheckoutView> {
  const { shown: charge, abandoned } = await attemptsToShow(context.db, intent);
  const now = context.clock.now();
  const status = statusAt(intent, now);
  const total = totalMinor(intent);
  const result = { payment_intent_id: intent.id, status };
  return {
    merchantId: merchant.id,
    intentId: intent.id,
    merchantName: merchant.name,
    appearance: merchant,
    testMode: merchant.testMode,
    status,
    counterName: counterNameOf(intent),
    title: intent.title,
    description: intent.description,
    customFields: Object.entries(intent.customFieldsValues ?? {}).map(([label, value]) => ({
      label,
      value: String(value),
    })),
    currency: intent.currency,
    amountMinor: intent.amountMinor,
    feeMinor: total - intent.amountMinor,
    totalMinor: total,
    expiresAt: intent.expiresAt,
    returnUrl: returnLink(intent.returnUrl, result),
    cancelUrl: returnLink(intent.cancelUrl, result),
    customerPhone: intent.customerPhone,
    attemptsLeft: Number(attemptsMax - intent.attempts),
    networks: networksToChoose(context.networks, merchant, intent),
    charge: charge ? { ...toChargeView(merchant, charge), ...(await typedIdView(context.db, charge)) } : null,
    canChange: charge !== undefined && canAbandon(intent, charge, now),
    openPrompts: abandoned.map(toOpenPrompt),
  };
}

/**
 * The attempt that paid, which the receipt is of. Before one has paid, an attempt whose money is under review, because nobody
 * should pay a second time meanwhile; else the current one. Beside it, what the payer has left and may still approve.
 */
async function attemptsToShow(
  db: Queryable,
  { merchantId, id, attempts }: Intent,
): Promise<{ shown: Charge | undefined; abandoned: Charge[] }> {
  const representative = await findRepresentativeCharge(db, merchantId, id);
  const isPaid = representative !== undefined && representative.paidAt !== null;
  if (!representative || (isPaid && attempts === 1n)) return { shown: representative, abandoned: [] };
  const charges = await listChargesOfIntent(db, merchantId, id);
  const underReview = isPaid ? undefined : charges.findLast(({ review }) => review === 'amount_mismatch');
  return { shown: underReview ?? representative, abandoned: charges.filter(isOpenAbandoned) };
}

/** Only where the payer is to type an id. */
async function typedIdView(db: Queryable, charge: Charge): Promise<Pick<CheckoutCharge, 'typedId'>> {
  return openAction(charge)?.type === 'send_and_enter_id' ? { typedId: await typedIdOf(db, charge) } : {};
}

/** The name when the payment was created: what the payer saw, also after the counter was renamed. */
function counterNameOf({ source, metadata }: Intent): string | null {
  const name = metadata['terminal_name'];
  return source === 'terminal' && typeof name === 'string' ? name : null;
}

function toChargeView(merchant: Merchant, charge: Charge): CheckoutCharge {
  return {
    id: charge.id,
    attempt: Number(charge.attempt),
    isAbandoned: charge.abandonedAt !== null,
    networkId: charge.network,
    networkName: networkName(charge.network),
    maskedNumber: maskPhoneNumber(charge.accountNumber ?? ''),
    number: charge.accountNumber,
    receivedDirectly: charge.receivedDirectly,
    waitingSince: charge.createdAt,
    simulatedNumber: merchant.testMode ? charge.accountNumber : null,
    status: charge.status,
    progress: charge.progress,
    nextAction: openAction(charge),
    failureCode: charge.failureCode,
    underReview: charge.review !== null,
    transactionReference: charge.transactionReference,
    shortCode: shortCodeOf(charge.transactionReference),
    amountPaidMinor: receivedMinor(charge),
    amountRefundedMinor: charge.amountRefundedMinor,
    amountReversedMinor: charge.amountReversedMinor,
    arrivedMinor: charge.paidAt === null ? charge.amountReceivedMinor : null,
    paidAt: charge.paidAt,
  };
}

function toOpenPrompt(charge: Charge): OpenPrompt {
  return {
    id: charge.id,
    networkName: networkName(charge.network),
    maskedNumber: maskPhoneNumber(charge.accountNumber ?? ''),
    number: charge.accountNumber,
    receivedDirectly: charge.receivedDirectly,
    transactionReference: charge.transactionReference,
  };
}
