import assert from 'node:assert/strict';
import { listCases } from '../../server/src/cases/list-cases.ts';
import { listEventsOfObjects } from '../../server/src/events/list-events.ts';
import type { Account } from '../../server/src/ledger/accounts.ts';
import { readBalance } from '../../server/src/ledger/read-balance.corpus.ts';
import { verifyLedger } from '../../server/src/ledger/verify.ts';
import { verifyHolds } from '../../server/src/transfers/verify-holds.ts';
import type { ApiResponse } from './api-client.ts';
import { startingMinor, transferFeeMinor, type CrashWorld } from './crash-world.ts';
import { eventually } from './eventually.ts';

const amountMinor = 10_000n;
const key = 'one transfer';

/** The merchant requests a transfer, always with the same key. Rejects when the process dies meanwhile. */
export function requestTransfer(
  world: CrashWorld,
  { url = world.apiUrl, to: accountNumber = '7000001', network = 'aps' } = {},
): Promise<ApiResponse> {
  const body = { amount: 100, network, account_number: accountNumber, beneficiary_name: 'Awa Ceesay' };
  return world.client(url).post('/v1/transfers', body, { 'idempotency-key': key });
}

/** Repeats the request until it has a response, as a merchant does after a lost one. */
export async function requestUntilResponse(world: CrashWorld): Promise<ApiResponse> {
  let response: ApiResponse | undefined;
  await eventually('the transfer has a response', async () => {
    response = await requestTransfer(world);
    // The database rolls the dead process's transaction back as soon as it notices.
    return response.status !== 409;
  });
  assert(response);
  assert.equal(response.status, 201, response.text);
  return response;
}

/** Checks that there is one transfer, one payout and one event, and that every balance is right to the butut. */
export async function verifyTransfer(
  world: CrashWorld,
  {
    status,
    accountNumber = '7000001',
    network = 'aps',
  }: { status: 'completed' | 'failed'; accountNumber?: string; network?: string },
): Promise<void> {
  const listed = (await world.client().get('/v1/transfers')).body['data'] as Record<string, unknown>[];
  assert.equal(listed.length, 1, 'one key, one transfer');
  const [transfer = {}] = listed;
  assert.equal(transfer['status'], status);
  const repeated = await requestTransfer(world, { to: accountNumber, network });
  assert.deepEqual([repeated.status, repeated.headers.get('idempotent-replayed')], [201, 'true'], repeated.text);
  assert.equal(repeated.body['id'], transfer['id'], 'the key replays this transfer');
  await verifyNetwork(world, transfer, status);
  await verifyMoney(world, status, network === 'wave' ? 'float:wave-test' : 'float:gsma-test');
  await verifyEvents(world, String(transfer['id']), status === 'completed' ? 'transfer.succeeded' : 'transfer.failed');
  assert.deepEqual(await listCases(world.db, null, 100, null), [], 'no case is open');
}

async function verifyNetwork(world: CrashWorld, transfer: Record<string, unknown>, status: string): Promise<void> {
  const text = `SELECT reference, CASE WHEN planned_at <= $1 THEN planned_status ELSE status END AS status
                FROM simulator.payouts`;
  const payouts = await world.db.rows({ name: 'test_payouts', text, values: [world.clock.now()] });
  assert.deepEqual(payouts, [{ reference: transfer['reference'], status }], 'the network has one payout');
}

async function verifyMoney(world: CrashWorld, status: string, float: Account): Promise<void> {
  const { db } = world;
  const { id: merchantId } = world.merchant;
  const balance = (account: Account) => readBalance(db, { merchantId, account, currency: 'GMD' });
  const paid = status === 'completed' ? amountMinor : 0n;
  const fee = status === 'completed' ? transferFeeMinor : 0n;
  const balances = {
    available: await balance('payable_available'),
    held: await balance('held'),
    fees: await balance('fees'),
    float: await balance(float),
  };
  assert.deepEqual(balances, { available: startingMinor - paid - fee, held: 0n, fees: fee, float: -paid });
  const [day] = await world.db.rows<{ amount: string }>({
    name: 'test_days',
    text: 'SELECT amount::text FROM transfer_days',
    values: [],
  });
  assert.equal(day?.amount, String(paid), 'the daily total has the amount');
  await verifyBooks(world);
}

/** The checks of the operator's `ledger verify`. */
export async function verifyBooks(world: CrashWorld): Promise<void> {
  assert.equal((await verifyLedger(world.db)).finding, null);
  assert.equal(await verifyHolds(world.db), null);
}

async function verifyEvents(world: CrashWorld, id: string, outcome: string): Promise<void> {
  const events = await listEventsOfObjects(world.db, world.merchant.id, [id]);
  const inOrder = events.toSorted((one, other) => Number(one.sequence - other.sequence));
  assert.deepEqual(
    inOrder.map(({ kind, sequence }) => [kind, sequence]),
    [
      ['transfer.created', 1n],
      [outcome, 2n],
    ],
    'one event for each change of state',
  );
  verifyReceived(world, [inOrder[1]?.id ?? '']);
  const rows = await world.db.rows({
    name: 'test_deliveries',
    text: 'SELECT status FROM webhook_deliveries',
    values: [],
  });
  assert.deepEqual(rows, [{ status: 'delivered' }], 'one delivery for the one event that is subscribed to');
}

/** These events arrived and no others, each once; one may arrive twice where its response died with the process. */
export function verifyReceived(world: CrashWorld, eventIds: readonly string[]): void {
  const received = world.receiver.received.map(({ headers }) => String(headers['webhook-id']));
  assert.deepEqual([...new Set(received)].toSorted(), eventIds.toSorted(), 'the merchant received the event');
  assert(received.length <= eventIds.length + 1, `${received.length} requests for ${eventIds.length} events`);
}
