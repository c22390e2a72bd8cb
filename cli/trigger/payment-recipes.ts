import type { EventKind } from '../../server/src/events/kinds.ts';
import { idIn } from '../api/answers.ts';
import type { JsonObject } from '../api/client.ts';
import { findEventOf } from '../events/event-row.ts';
import { until } from './recipe.ts';
import type { Kitchen, Made, Recipe } from './recipe.ts';

type PaymentKind = Extract<EventKind, `payment_intent.${string}` | `charge.${string}`>;

/** The last digits of the payer's number decide (docs/testing-with-the-simulator.md). */
const approves = '7000001';
const declines = '7000002';
const isTakenBack = '7000012';

export const paymentRecipes: Readonly<Record<PaymentKind, Recipe>> = {
  'payment_intent.created': { how: 'creates a payment', make: createIntent },
  'payment_intent.cancelled': {
    how: 'creates a payment and cancels it',
    make: async (kitchen) => {
      const made = await createIntent(kitchen);
      await kitchen.api.post(`/v1/payments/${made.objectId}/cancel`);
      return made;
    },
  },
  'payment_intent.expired': {
    how: 'cannot be hurried',
    cannot:
      'payment_intent.expired comes when the time to pay runs out, which takes as long as it takes: start a development ' +
      'server with INTENT_LIFETIME_MINUTES=1, run dalasi trigger payment_intent.created, and wait that minute.',
  },
  'charge.created': { how: `pays from ${approves}`, make: (kitchen) => pay(kitchen, approves) },
  'charge.succeeded': { how: `pays from ${approves}, which approves`, make: (kitchen) => pay(kitchen, approves) },
  'charge.failed': { how: `pays from ${declines}, which declines`, make: (kitchen) => pay(kitchen, declines) },
  'charge.reversed': {
    how: `pays from ${isTakenBack}; the network takes it back after two seconds`,
    make: (kitchen) => pay(kitchen, isTakenBack),
  },
  'charge.refunded': { how: `pays from ${approves} and refunds it`, make: refund },
};

async function createIntent({ api, amount }: Kitchen): Promise<{ objectId: string }> {
  const created = await api.post('/v1/payments', { data: { amount, title: 'dalasi trigger' } });
  return { objectId: idIn(created, 'payment_intent_id') };
}

/** A direct charge; answers the charge's id. */
export async function pay(
  { api, amount }: Kitchen,
  accountNumber: string,
  data: JsonObject = {},
): Promise<{ objectId: string }> {
  const payer = { network: 'aps', account_number: accountNumber };
  const created = await api.post('/v1/payments', { data: { amount, title: 'dalasi trigger', ...payer, ...data } });
  // An intent's id finds its newest attempt.
  const { body } = await api.get(`/v1/transactions/${idIn(created, 'payment_intent_id')}`);
  return { objectId: idIn(body) };
}

/** A charge that was paid. */
export async function payAndWait(kitchen: Kitchen, data: JsonObject = {}): Promise<string> {
  const { objectId } = await pay(kitchen, approves, data);
  await until(kitchen.clock, `charge.succeeded of ${objectId}`, () =>
    findEventOf(kitchen.api, { kind: 'charge.succeeded', objectId }),
  );
  return objectId;
}

async function refund(kitchen: Kitchen): Promise<Made> {
  const objectId = await payAndWait(kitchen);
  const { body } = await kitchen.api.get(`/v1/transactions/${objectId}`);
  const reference = body['reference'];
  await kitchen.api.post('/v1/transactions/refund', { reference }, { 'idempotency-key': kitchen.newKey() });
  return { objectId };
}
