import assert from 'node:assert/strict';
import { listEventsOfObjects } from '../../server/src/events/list-events.ts';
import { readBalance } from '../../server/src/ledger/read-balance.corpus.ts';
import type { ApiAnswer } from './api-client.ts';
import { verifyBooks, verifyReceived } from './crash-transfer.ts';
import { startingMinor } from './crash-world.ts';
import type { CrashWorld } from './crash-world.ts';
import { eventually } from './eventually.ts';

const amountMinor = 45_000n;

/** The merchant charges a payer, always with the same key. Rejects when the process dies over it. */
export function charge(world: CrashWorld, url = world.apiUrl): Promise<ApiAnswer> {
  const data = { amount: 450, network: 'aps', account_number: '7000001' };
  return world.client(url).post('/v1/payments', { data }, { 'idempotency-key': 'one payment' });
}

export async function chargeUntilAnswered(world: CrashWorld): Promise<ApiAnswer> {
  let answer: ApiAnswer | undefined;
  await eventually('the payment is answered', async () => {
    answer = await charge(world);
    return answer.status !== 409;
  });
  assert(answer);
  assert.equal(answer.status, 201, answer.text);
  return answer;
}

/**
 * One payment, taken once and booked once, or (`untaken`: its network was never asked) given back to the payer, from
 * whom then nothing was taken.
 */
export async function verifyPayment(world: CrashWorld, { untaken = false } = {}): Promise<void> {
  const listed = (await world.client().get('/v1/payments')).body['data'] as Record<string, unknown>[];
  assert.equal(listed.length, 1, 'one key, one payment');
  const [intent = {}] = listed;
  assert.equal(intent['status'], untaken ? 'requires_payment_method' : 'successful');
  const sessions = await world.db.rows({
    name: 'test_sessions',
    text: 'SELECT status FROM simulator.sessions',
    values: [],
  });
  assert.deepEqual(sessions, untaken ? [] : [{ status: 'complete' }], 'what the network knows');
  const at = { merchantId: world.merchant.id, account: 'payable_available', currency: 'GMD' } as const;
  assert.equal(await readBalance(world.db, at), startingMinor + (untaken ? 0n : amountMinor));
  await verifyBooks(world);
  await verifyEvents(world, untaken ? 'charge.failed' : 'charge.succeeded');
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
