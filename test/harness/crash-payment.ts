import assert from 'node:assert/strict';
import { listEventsOfObjects } from '../../server/src/events/list-events.ts';
import { readBalance } from '../../server/src/ledger/read-balance.corpus.ts';
import type { ApiResponse } from './api-client.ts';
import { verifyBooks, verifyReceived } from './crash-transfer.ts';
import { startingMinor } from './crash-world.ts';
import type { CrashWorld } from './crash-world.ts';
import { eventually } from './eventually.ts';

const amountMinor = 45_000n;

/** The merchant charges a payer, always with the same key. Rejects when the process dies meanwhile. */
export function charge(world: CrashWorld, url = world.apiUrl): Promise<ApiResponse> {
  const data = { amount: 450, network: 'aps', account_number: '7000001' };
  return world.client(url).post('/v1/payments', { data }, { 'idempotency-key': 'one payment' });
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
 * has failed, the network collected nothing, and the payer can try again.
 */
export async function verifyPayment(world: CrashWorld, { notCollected = false } = {}): Promise<void> {
  const listed = (await world.client().get('/v1/payments')).body['data'] as Record<string, unknown>[];
  assert.equal(listed.length, 1, 'one key, one payment');
  const [intent = {}] = listed;
  assert.equal(intent['status'], notCollected ? 'requires_payment_method' : 'successful');
  const sessions = await world.db.rows({
    name: 'test_sessions',
    text: 'SELECT status FROM simulator.sessions',
    values: [],
  });
  assert.deepEqual(sessions, notCollected ? [] : [{ status: 'complete' }], 'the sessions at the network');
  const key = { merchantId: world.merchant.id, account: 'payable_available', currency: 'GMD' } as const;
  assert.equal(await readBalance(world.db, key), startingMinor + (notCollected ? 0n : amountMinor));
  await verifyBooks(world);
  await verifyEvents(world, notCollected ? 'charge.failed' : 'charge.succeeded');
}

async function verifyEvents(world: CrashWorld, outcome: string): Promise<void> {
  const objects = await world.db.rows<{ id: string }>({
    name: 'test_objects',
    text: 'SELECT DISTINCT object_id AS id FROM events',
    values: [],
  });
  const ids = objects.map(({ id }) => id);
  const events = await listEventsOfObjects(world.db, world.merchant.id, ids);
  assert.deepEqual(
    events.map(({ kind }) => kind).toSorted(),
    ['charge.created', outcome, 'payment_intent.created'].toSorted(),
  );
  verifyReceived(
    world,
    events.filter(({ kind }) => kind === outcome).map(({ id }) => id),
  );
}
