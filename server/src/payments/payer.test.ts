import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually } from '../../../test/harness/eventually.ts';
import { countWaiting } from '../../../test/harness/tables.ts';
import { notingStatements } from '../../../test/harness/noted-statements.ts';
import { createCustomer, deleteCustomer } from '../customers/manage-customers.ts';
import { listEventsOfObjects } from '../events/list-events.ts';
import { applyResponse } from './apply-response.ts';
import { createPayment } from './create-payment.ts';
import { forgetCustomer } from './forget-customer.ts';
import { startAttempt } from './start-attempt.ts';
import { createPaymentWorld, newPayment, succeeded, type PaymentWorld } from './payment-world.corpus.ts';

let world: PaymentWorld;
let caller: { merchantId: string; testMode: boolean };

before(async () => {
  world = await createPaymentWorld();
  caller = { merchantId: world.merchant.id, testMode: true };
});
after(() => world.close());

async function newCustomer(): Promise<string> {
  const awa = { name: 'Awa', email: 'awa@shop.example', phone: '7012345', metadata: {}, distinct: false };
  const { customer } = await world.db.withTransaction((tx) => createCustomer(tx, world.context, caller, awa));
  return customer.id;
}

function forget(id: string): Promise<void> {
  const context = { ...world.context, forgetInPayments: forgetCustomer };
  return world.db.withTransaction((tx) => deleteCustomer(tx, context, caller, id));
}

async function deletionWaits(): Promise<void> {
  await eventually('the deletion waits', async () => (await countWaiting(world.db)) > 0);
}

/** The statements of a creation, by name, in their order. */
async function statementsOf(customerId: string | null): Promise<string[]> {
  const names: string[] = [];
  await world.db.withTransaction((tx) => {
    const request = { ...newPayment, network: null, accountNumber: null, customerId };
    return createPayment(notingStatements(tx, names), world.context, world.merchant, request);
  });
  return names;
}

test('a payment without a customer costs no query for customers', async () => {
  const statements = await statementsOf(null);
  assert.deepEqual(statements, ['payment_intents_insert', 'events_insert']);
  assert.deepEqual(await statementsOf(await newCustomer()), ['customers_lock_for_payment', ...statements]);
});

test('a payment created while its customer is deleted loses its payer like the others', async () => {
  const customerId = await newCustomer();
  const [isMade, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const creation = world.db.withTransaction(async (tx) => {
    const { intent } = await createPayment(tx, world.context, world.merchant, { ...newPayment, customerId });
    isMade.resolve();
    await mayEnd.promise;
    return intent;
  });
  await isMade.promise;
  const deletion = forget(customerId);
  await deletionWaits();
  mayEnd.resolve();
  const intent = await creation;
  await deletion;
  assert.deepEqual([intent.customerName, intent.customerPhone], ['Awa', '7012345']);
  const stored = await world.intent(intent);
  assert.deepEqual(
    [stored.customerId, stored.customerName, stored.customerEmail, stored.customerPhone],
    [customerId, null, null, null],
  );
});

test('the events of an attempt that starts while its customer is deleted lose their payer too', async () => {
  const customerId = await newCustomer();
  const request = { ...newPayment, network: null, accountNumber: null, customerId };
  const { intent } = await world.db.withTransaction((tx) => createPayment(tx, world.context, world.merchant, request));
  const [isStarted, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const choice = { intentId: intent.id, network: 'wave', accountNumber: '7001234', fieldPrefix: '' };
  const start = world.db.withTransaction(async (tx) => {
    const charge = await startAttempt(tx, world.context, world.merchant, choice);
    isStarted.resolve();
    await mayEnd.promise;
    return charge;
  });
  await isStarted.promise;
  const deletion = forget(customerId);
  await deletionWaits();
  mayEnd.resolve();
  const charge = await start;
  await deletion;
  const events = await listEventsOfObjects(world.db, world.merchant.id, [intent.id, charge.id]);
  assert.deepEqual(
    events.map(({ kind }) => kind),
    ['payment_intent.created', 'charge.created'],
  );
  assert.doesNotMatch(JSON.stringify(events.map(({ record }) => record)), /Awa|7012345|awa@/);
});

test('an open payment of a deleted customer is booked when paid, and carries no personal data', async () => {
  const customerId = await newCustomer();
  const [paid, open] = [await world.createSent({ customerId }), await world.createSent({ customerId })];
  await applyResponse(world.context, paid.charge, succeeded(paid.charge));
  const booked = await world.movements(paid.charge);
  const before = await listEventsOfObjects(world.db, world.merchant.id, [paid.charge.id, paid.intent.id]);
  await forget(customerId);
  const payer = { customer_name: null, customer_email: null, customer_phone: null };
  assert.deepEqual(
    await listEventsOfObjects(world.db, world.merchant.id, [paid.charge.id, paid.intent.id]),
    before.map((event) => ({ ...event, record: { ...event.record, ...payer } })),
    'earlier events are otherwise as they were',
  );
  assert.ok(before.some(({ record }) => record['customer_name'] === 'Awa'));
  await applyResponse(world.context, open.charge, succeeded(open.charge));
  assert.deepEqual(await world.movements(paid.charge), booked);
  assert.deepEqual(await world.movements(open.charge), booked);
  await world.verify();
  const events = await listEventsOfObjects(world.db, world.merchant.id, [open.charge.id]);
  const { customer, customer_name: name, customer_phone: phone } = events.at(-1)?.record ?? {};
  assert.deepEqual([events.at(-1)?.kind, customer, name, phone], ['charge.succeeded', customerId, null, null]);
});
