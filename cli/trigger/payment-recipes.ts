import type { EventKind } from '../../server/src/events/kinds.ts';
import { idIn } from '../api/responses.ts';
import type { JsonObject } from '../api/client.ts';
import { findEventOf } from '../events/event-row.ts';
import { waitFor, type TriggerContext, type CreatedRecord, type Recipe } from './recipe.ts';

type PaymentKind = Extract<EventKind, `payment_intent.${string}` | `charge.${string}`>;

/** The last digits of the payer's number decide (docs/testing-with-the-simulator.md). */
const approvingNumber = '7000001';
const decliningNumber = '7000002';
const reversedNumber = '7000012';

export const paymentRecipes: Readonly<Record<PaymentKind, Recipe>> = {
  'payment_intent.created': { how: 'creates a payment', run: createIntent },
  'payment_intent.cancelled': {
    how: 'creates a payment and cancels it',
    run: async (context) => {
      const created = await createIntent(context);
      await context.api.post(`/v1/payments/${created.objectId}/cancel`);
      return created;
    },
  },
  'payment_intent.expired': {
    how: 'cannot be triggered: takes the lifetime of a payment',
    cannot:
      'payment_intent.expired comes when the time to pay has passed: start a development server with ' +
      'INTENT_LIFETIME_MINUTES=1, run dalasi trigger payment_intent.created, and wait a minute.',
  },
  'charge.created': { how: `pays from ${approvingNumber}`, run: (context) => pay(context, approvingNumber) },
  'charge.succeeded': {
    how: `pays from ${approvingNumber}, which approves`,
    run: (context) => pay(context, approvingNumber),
  },
  'charge.failed': {
    how: `pays from ${decliningNumber}, which declines`,
    run: (context) => pay(context, decliningNumber),
  },
  'charge.reversed': {
    how: `pays from ${reversedNumber}; the network reverses it after two seconds`,
    run: (context) => pay(context, reversedNumber),
  },
  'charge.refunded': { how: `pays from ${approvingNumber} and refunds it`, run: refund },
};

async function createIntent({ api, amount }: TriggerContext): Promise<{ objectId: string }> {
  const created = await api.post('/v1/payments', { data: { amount, title: 'dalasi trigger' } });
  return { objectId: idIn(created, 'payment_intent_id') };
}

/** Makes a direct charge; returns the id of the charge. */
export async function pay(
  { api, amount }: TriggerContext,
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
export async function payAndWait(context: TriggerContext, data: JsonObject = {}): Promise<string> {
  const { objectId } = await pay(context, approvingNumber, data);
  await waitFor(context.clock, `charge.succeeded of ${objectId}`, () =>
    findEventOf(context.api, { kind: 'charge.succeeded', objectId }),
  );
  return objectId;
}

async function refund(context: TriggerContext): Promise<CreatedRecord> {
  const objectId = await payAndWait(context);
  const { body } = await context.api.get(`/v1/transactions/${objectId}`);
  const reference = body['reference'];
  await context.api.post('/v1/transactions/refund', { reference }, { 'idempotency-key': context.newIdempotencyKey() });
  return { objectId };
}
