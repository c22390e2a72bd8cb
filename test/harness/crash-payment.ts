import assert from 'node:assert/strict';
import { listEventsOfObjects } from '../../server/src/events/list-events.ts';
import { readBalance } from '../../server/src/ledger/read-balance.corpus.ts';
import type { ApiResponse } from './api-client.ts';
import { verifyBooks, verifyReceived } from './crash-transfer.ts';
import { startingMinor, type CrashWorld } from './crash-world.ts';
import { eventually } from './eventually.ts';

const amountMinor = 45_000n;

/** Approved at once. */
const payingNumber = '7000001';
/** Waits for the payer, who never approves. */
const waitingNumber = '7001234';

/** The merchant charges a payer, always with the same key. Rejects when the process dies meanwhile. */
export function charge(
  world: CrashWorld,
  { url = world.apiUrl, number = payingNumber, network = 'aps' } = {},
): Promise<ApiResponse> {
  const data = { amount: 450, network, account_number: number };
  return world.client(url).post('/v1/payments', { data }, { 'idempotency-key': 'one payment' });
}

/** A sent attempt that the payer has left, at a network that can cancel it, and one with another number that no worker has sent yet. */
export async function chargeAnotherNumber(world: CrashWorld): Promise<void> {
  const { body } = await charge(world, { number: waitingNumber, network: 'wave' });
  await world.runWorker();
  const leave = [
    `UPDATE charges SET abandoned_at = updated_at WHERE merchant_id = $1`,
    `UPDATE payment_intents SET status = 'requires_payment_method' WHERE merchant_id = $1`,
  ];
  for (const text of leave) await world.db.run({ name: '', text, values: [world.merchant.id] });
  const form = new URLSearchParams({ network: 'aps', account_number: payingNumber });
  const headers = { origin: world.apiUrl };
  const paid = await fetch(String(body['payment_link']), { method: 'POST', body: form, redirect: 'manual', headers });
  assert.equal(paid.status, 303);
}

export async function chargeUntilResponse(world: CrashWorld): Promise<ApiResponse> {
  let response: ApiResponse | undefined;
  await eventually('the payment has a response', async () => {
    response = await charge(world);
    return response.status !== 409;
  });
  assert(response);
  assert.equal(response.status, 201, response.text);
  return response;
}

/**
 * Checks that there is one payment, collected and booked once; with `notCollected` (no request reached its network) it
 * has failed, the network collected nothing, and the payer can try again. With `abandoned` an attempt before it was left,
 * and cancelled at its network.
 */
export async function verifyPayment(
  world: CrashWorld,
  { notCollected = false, abandoned = false } = {},
): Promise<void> {
  const listed = (await world.client().get('/v1/payments')).body['data'] as Record<string, unknown>[];
  assert.equal(listed.length, 1, 'one key, one payment');
  const [intent = {}] = listed;
  assert.equal(intent['status'], notCollected ? 'requires_payment_method' : 'successful');
  const sessions = await world.db.rows({
    name: 'test_sessions',
    text: 'SELECT status FROM simulator.sessions ORDER BY status',
    values: [],
  });
  const expected = [...(abandoned ? ['cancelled'] : []), ...(notCollected ? [] : ['complete'])];
  assert.deepEqual(
    sessions,
    expected.map((status) => ({ status })),
    'the sessions at the network',
  );
  const key = { merchantId: world.merchant.id, account: 'payable_available', currency: 'GMD' } as const;
  assert.equal(await readBalance(world.db, key), startingMinor + (notCollected ? 0n : amountMinor));
  await verifyBooks(world);
  const attempts = abandoned ? ['charge.created', 'charge.created'] : ['charge.created'];
  await verifyEvents(world, attempts, notCollected ? 'charge.failed' : 'charge.succeeded');
}

async function verifyEvents(world: CrashWorld, attempts: readonly string[], outcome: string): Promise<void> {
  const objects = await world.db.rows<{ id: string }>({
    name: 'test_objects',
    text: 'SELECT DISTINCT object_id AS id FROM events',
    values: [],
  });
  const ids = objects.map(({ id }) => id);
  const events = await listEventsOfObjects(world.db, world.merchant.id, ids);
  assert.deepEqual(
    events.map(({ kind }) => kind).toSorted(),
    [...attempts, outcome, 'payment_intent.created'].toSorted(),
  );
  verifyReceived(
    world,
    events.filter(({ kind }) => kind === outcome).map(({ id }) => id),
  );
}
