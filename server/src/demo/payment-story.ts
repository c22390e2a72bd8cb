import { networkQueue } from '../events/outbox.ts';
import { addMs, secondMs } from '../kit/clock.ts';
import { dalasi } from '../kit/money.ts';
import { payAtTerminal } from '../links/pay-at-terminal.ts';
import { payLink } from '../links/pay-link.ts';
import type { Transaction } from '../kit/db.ts';
import { connectorOf } from '../payments/connector-of.ts';
import type { CollectionResponse, FailureCode } from '../networks/contract.ts';
import { applyNotification } from '../payments/apply-response.ts';
import { cancelPayment } from '../payments/cancel-payment.ts';
import type { Charge } from '../payments/charge.ts';
import { createPayment, fromApi, type NewPayment } from '../payments/create-payment.ts';
import { expirePayments } from '../payments/expire-payments.ts';
import type { Intent } from '../payments/intent.ts';
import { startCharge } from '../payments/jobs.ts';
import { startAttempt } from '../payments/start-attempt.ts';
import { happens, wholeNumber } from './choices.ts';
import { claimedWork, endWork, type DemoWorld } from './demo-world.ts';
import type { PaymentPlan } from './plan-payments.ts';

/** What is left of a story: something that happens later. */
export interface Later {
  at: Date;
  /** What happens, in a story of its own. */
  play: () => Promise<void>;
}

/** The sweep that records expiries comes every five seconds. */
const sweepMs = 5 * secondMs;
/** How long after the expiry a late success is reported. */
const lateMs = 4 * 60 * secondMs;

/** The endings of attempts that fail. */
const failures: Record<'declined' | 'too_little_money', { code: FailureCode; reason: string }> = {
  declined: { code: 'declined_by_payer', reason: 'The payer declined the payment.' },
  too_little_money: { code: 'insufficient_funds', reason: 'The payer does not have enough money.' },
};

export interface PlayedPayment {
  /** Null where the payment was not paid, or not yet. */
  paid: Charge | null;
  later: Later | null;
}

/** Plays a payment from its creation to its end, or to what happens later. */
export async function playPayment(world: DemoWorld, plan: PaymentPlan): Promise<PlayedPayment> {
  const { time, money, merchant, db } = world;
  const intent = await createIntent(world, plan);
  if (plan.outcome === 'cancelled') {
    time.moveBy(wholeNumber(time.random, 60, 600) * secondMs);
    await db.withTransaction((tx) => cancelPayment(tx, money, merchant, intent.id));
    return { paid: null, later: null };
  }
  const expiresLater: Later = { at: addMs(intent.expiresAt, sweepMs), play: () => expire(world) };
  if (plan.outcome === 'never_tried') return { paid: null, later: expiresLater };
  const charge = await tryToPay(world, intent, plan.number);
  time.moveBy(wholeNumber(time.random, 12, 75) * secondMs);
  switch (plan.outcome) {
    case 'paid':
      await pay(world, charge);
      if (plan.origin.kind === 'api') world.requests.noteRead(charge.id);
      return { paid: charge, later: null };
    case 'declined':
    case 'too_little_money': {
      await fail(world, charge, failures[plan.outcome]);
      if (!happens(time.random, 0.6)) return { paid: null, later: expiresLater };
      const second = await tryToPay(world, intent, plan.number);
      time.moveBy(wholeNumber(time.random, 12, 75) * secondMs);
      return { paid: await pay(world, second), later: null };
    }
    case 'other_amount':
      await pay(world, charge, dalasi);
      return { paid: null, later: null };
    case 'expired':
      return { paid: null, later: { ...expiresLater, play: () => expireUnpaid(world, charge) } };
    case 'late':
      return { paid: null, later: { at: addMs(expiresLater.at, lateMs), play: () => payLate(world, charge) } };
  }
}

async function createIntent(world: DemoWorld, plan: PaymentPlan): Promise<Intent> {
  const { db, requests } = world;
  if (plan.origin.kind !== 'api') return db.withTransaction((tx) => createIntentIn(tx, world, plan));
  const requestId = requests.newId();
  const intent = await db.withTransaction((tx) => createIntentIn(tx, world, plan), { requestId });
  requests.noteCreation(requestId, intent);
  return intent;
}

async function createIntentIn(tx: Transaction, { money, merchant }: DemoWorld, plan: PaymentPlan): Promise<Intent> {
  const { amountMinor, title, origin } = plan;
  switch (origin.kind) {
    case 'link': {
      const entered = origin.link.amountMinor === null ? amountMinor : null;
      const payment = {
        amountMinor: entered,
        shownTotalMinor: null,
        customFieldsValues: {},
        choice: null,
        formHash: null,
      };
      return payLink(tx, money, merchant, origin.link, payment);
    }
    case 'counter':
      return payAtTerminal(tx, money, merchant, origin.terminal, { amountMinor, formHash: null });
    case 'api': {
      const request = { ...apiPayment, amountMinor, title, customerId: origin.customerId, split: origin.split };
      return (await createPayment(tx, money, merchant, request)).intent;
    }
  }
}

const apiPayment: NewPayment = {
  amountMinor: 0n,
  currency: null,
  returnUrl: null,
  cancelUrl: null,
  callbackUrl: null,
  skipUrlValidation: true,
  network: null,
  accountNumber: null,
  title: null,
  description: null,
  customerId: null,
  customerName: null,
  customerEmail: null,
  customerPhone: null,
  paymentMethods: null,
  metadata: {},
  split: null,
  origin: fromApi,
};

async function tryToPay(
  world: DemoWorld,
  intent: Intent,
  { network, accountNumber }: PaymentPlan['number'],
): Promise<Charge> {
  const { time, money, merchant, db } = world;
  time.moveBy(wholeNumber(time.random, 10, 60) * secondMs);
  const request = { intentId: intent.id, network, accountNumber, fieldPrefix: '' };
  const charge = await db.withTransaction((tx) => startAttempt(tx, money, merchant, request));
  time.moveBy(wholeNumber(time.random, 100, 900));
  const queue = networkQueue({ network, testMode: true }, 'starts');
  await startCharge(money, claimedWork(world, { queue, kind: 'start_charge', subjectId: charge.id }));
  return charge;
}

/** The payer pays, `tooMuchMinor` bututs more than was asked for. */
async function pay(world: DemoWorld, charge: Charge, tooMuchMinor = 0n): Promise<Charge> {
  await report(world, charge, { state: 'succeeded', providerTransaction: transactionOf(charge, tooMuchMinor) });
  await endWork(world, { queue: 'notifications', kind: 'notify_charge', subjectId: charge.id });
  await endWork(world, { ...lookUps(charge), kind: 'cancel_charge' });
  return charge;
}

/** What the network says of the money of a charge; the same each time it says it. */
export function transactionOf({ reference, amountPaidMinor, currency, accountCanonical }: Charge, tooMuchMinor = 0n) {
  return {
    transactionId: `collected-${reference}`,
    networkReference: `session-${reference}`,
    amountMinor: amountPaidMinor + tooMuchMinor,
    currency,
    networkFeeMinor: 0n,
    payerNumber: accountCanonical,
  };
}

function fail(world: DemoWorld, charge: Charge, failure: { code: FailureCode; reason: string }): Promise<void> {
  return report(world, charge, { state: 'refused', failure });
}

/** Records the expiry of this payment; no other is due at the story's time. */
async function expire({ money }: DemoWorld): Promise<void> {
  await expirePayments(money);
}

/** The prompt ends at the network too, when the payment expires. */
async function expireUnpaid(world: DemoWorld, charge: Charge): Promise<void> {
  await expire(world);
  world.time.moveBy(8 * secondMs);
  await fail(world, charge, { code: 'expired', reason: 'The payment was not approved in time.' });
}

async function payLate(world: DemoWorld, charge: Charge): Promise<void> {
  await expire(world);
  await pay(world, charge);
}

/** The network reports on a charge, as its callback would, and the look-up that was due finds nothing left to do. */
export async function report(world: DemoWorld, charge: Charge, response: CollectionResponse): Promise<void> {
  const { money } = world;
  const { railAccount } = (await connectorOf(money, charge)).capabilities;
  await applyNotification(money, railAccount, { operation: 'collection', reference: charge.reference, response });
  await endWork(world, { ...lookUps(charge), kind: 'look_up_charge' });
}

function lookUps({ network, id }: Charge) {
  return { queue: networkQueue({ network, testMode: true }, 'look-ups'), subjectId: id };
}
