import type { PaymentContext } from './context.ts';
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { applyResponse } from './apply-response.ts';
import { cancelPayment } from './cancel-payment.ts';
import { createPayment } from './create-payment.ts';
import { expirePayments } from './expire-payments.ts';
import {
  createPaymentWorld,
  newPayment,
  refused,
  reversed,
  succeeded,
  type PaymentWorld,
} from './payment-world.corpus.ts';

let world: PaymentWorld;

before(async () => {
  world = await createPaymentWorld();
});

afterEach(() => world.verify());

after(() => world.close());

interface Counts {
  intents: bigint;
  charges: bigint;
  events: bigint;
  networkWork: bigint;
  movements: bigint;
  cases: bigint;
}

async function counts(): Promise<Counts> {
  const row = await world.db.row<Counts>({
    name: 'test_counts',
    text: `SELECT (SELECT count(*) FROM payment_intents) AS intents, (SELECT count(*) FROM charges) AS charges,
             (SELECT count(*) FROM events) AS events, (SELECT count(*) FROM ledger_movements) AS movements,
             (SELECT count(*) FROM outbox WHERE queue LIKE 'network:%') AS "networkWork",
             (SELECT count(*) FROM cases) AS cases`,
    values: [],
  });
  assert.ok(row);
  return row;
}

/** Runs `body` with a database that refuses events of one kind: the last thing that a change writes. */
async function withoutEvents(kind: string, body: () => Promise<unknown>): Promise<void> {
  await world.asOwner(`ALTER TABLE events ADD CONSTRAINT broken CHECK (kind <> '${kind}') NOT VALID`);
  const unchanged = await counts();
  try {
    await assert.rejects(body, /broken/);
  } finally {
    await world.asOwner('ALTER TABLE events DROP CONSTRAINT broken');
  }
  assert.deepEqual(await counts(), unchanged, 'nothing of it was written');
}

test('a creation that is rolled back leaves no payment, attempt, event or work', async () => {
  const before = await counts();
  const notified: unknown[] = [];
  const planned: unknown[] = [];
  const context: PaymentContext = {
    ...world.context,
    notifyWorker: (work) => notified.push(work),
    planDeliveries: (_tx, event) => planned.push(event),
  };
  const undone = world.db.withTransaction(async (tx) => {
    await createPayment(tx, context, world.merchant, newPayment);
    throw new Error('the answer could not be written');
  });
  await assert.rejects(undone, /could not be written/);
  assert.deepEqual(await counts(), before);
  assert.deepEqual(notified, []);
  planned.length = 0;

  await world.db.withTransaction((tx) => createPayment(tx, context, world.merchant, newPayment));
  const after = await counts();
  assert.deepEqual(
    [after.intents - before.intents, after.charges - before.charges, after.events - before.events],
    [1n, 1n, 2n],
  );
  assert.equal(planned.length, 2, 'the deliveries of each event are planned');
  assert.equal(after.networkWork - before.networkWork, 1n);
  assert.equal(notified.length, 1);
});

test('a creation, attempt, success or refusal without its event is rolled back', async () => {
  const { intent, charge } = await world.createSent();
  await withoutEvents('payment_intent.created', () => world.create());
  await withoutEvents('charge.created', () => world.create());
  await withoutEvents('charge.failed', () => applyResponse(world.context, charge, refused));
  await withoutEvents('charge.succeeded', () => applyResponse(world.context, charge, succeeded(charge)));
  assert.equal((await world.charge(charge)).status, 'pending');
  assert.equal((await world.intent(intent)).status, 'processing');
  await applyResponse(world.context, charge, succeeded(charge));
  assert.equal(
    (await world.charge(charge)).status,
    'completed',
    'the same notification is applied when it is repeated',
  );
});

test('a reversal, a cancellation or an expiry without its event is rolled back', async () => {
  const { charge } = await world.createSent();
  await applyResponse(world.context, charge, succeeded(charge));
  await withoutEvents('charge.reversed', () => applyResponse(world.context, charge, reversed(charge)));
  assert.equal((await world.charge(charge)).status, 'completed');

  const open = await world.createSent();
  await withoutEvents('payment_intent.cancelled', () =>
    world.db.withTransaction((tx) => cancelPayment(tx, world.context, world.merchant, open.intent.id)),
  );
  await world.clock.advance(30 * 60_000);
  await withoutEvents('payment_intent.expired', () => expirePayments(world.context));
  assert.equal((await world.intent(open.intent)).status, 'processing');
});

test('an event holds the record as it was then, and its deliveries are planned once', async () => {
  const { intent, charge } = await world.createSent({ metadata: { order: '1042' }, title: 'Books' });
  await applyResponse(world.context, charge, refused);
  await applyResponse(world.context, charge, succeeded(charge));
  const rows = await world.db.rows<{ id: string; kind: string; record: Record<string, unknown> }>({
    name: 'test_events',
    text: `SELECT id, kind, record
           FROM events WHERE merchant_id = $1 AND object_id = ANY ($2::uuid[]) ORDER BY id`,
    values: [charge.merchantId, [intent.id, charge.id]],
  });
  const reported = rows.map(({ kind, record }) => [kind, record['id'], record['status']]);
  assert.deepEqual(reported, [
    ['payment_intent.created', intent.id, 'processing'],
    ['charge.created', charge.id, 'pending'],
    ['charge.failed', charge.id, 'failed'],
    ['charge.succeeded', charge.id, 'completed'],
  ]);
  for (const { id } of rows) assert.equal(world.planned.filter((event) => event.id === id).length, 1);
  const [created, , failed, succeededRecord] = rows.map(({ record }) => record);
  assert.equal(created?.['intent_secret'], undefined, 'the secret is sent to nobody');
  assert.equal(failed?.['failure_code'], 'declined_by_payer');
  assert.equal(succeededRecord?.['failure_code'], null);
  assert.deepEqual(succeededRecord?.['metadata'], { order: '1042' });
  assert.equal(succeededRecord?.['amount_paid'], 100);
});
