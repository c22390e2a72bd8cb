import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createApiClient } from '../../../test/harness/api-client.ts';
import type { ApiResponse } from '../../../test/harness/api-client.ts';
import { createTestDatabase } from '../../../test/harness/database.ts';
import type { TestDatabase } from '../../../test/harness/database.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { startService } from '../../../test/harness/service.ts';
import type { TestMerchant, TestService } from '../../../test/harness/service.ts';
import { asOwner, whileLocked } from '../../../test/harness/tables.ts';
import { apiRoutes } from '../app/api-routes.ts';
import { claimWork, networkQueue } from '../events/outbox.ts';
import { addMs } from '../kit/clock.ts';

const connectionsMax = 8;
// As api-routes.ts has it.
const placesMax = 6;
const historyPlacesMax = 2;
// As kit/db.ts has it: so long a request waits for a lock.
const lockTimeoutMs = 1_200;

let database: TestDatabase;
let service: TestService;
let busy: TestMerchant;
let other: TestMerchant;

before(async () => {
  database = await createTestDatabase();
  // Without a worker: what is claimed is claimed by the test.
  const settings = { ROLE: 'api', DATABASE_URL: database.adminUrl };
  service = await startService({ database, connectionsMax, settings, isPatient: false });
  busy = (await service.onboard()).test;
  other = (await service.onboard('Serekunda Shoes')).test;
  // The account's row is there once something was paid from it.
  for (const merchant of [busy, other]) assert.equal((await transfer(merchant, 'first')).status, 201);
});
after(async () => {
  await service.stop();
  await database.drop();
});

function transfer({ key }: TestMerchant, idempotencyKey: string): Promise<ApiResponse> {
  const order = { amount: 1, network: 'aps', account_number: '7001234', beneficiary_name: 'Awa Ceesay' };
  return createApiClient(service.url, key).post('/v1/transfers', order, { 'idempotency-key': idempotencyKey });
}

function balanceOf({ merchant }: TestMerchant) {
  const text = `SELECT balance FROM ledger_accounts WHERE merchant_id = $1 AND account = 'payable_available' FOR UPDATE`;
  return { text, values: [merchant.id] };
}

/** Connections of the service that wait for somebody's lock. */
async function waitingForLocks(): Promise<number> {
  const [row] = await asOwner<{ count: number }>(
    service,
    `SELECT count(*)::integer AS count FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' AND application_name = 'dalasi'`,
  );
  return row?.count ?? 0;
}

describe('orders of a merchant whose balance is locked by a slow transaction', () => {
  it('leave connections for other merchants and for workers, and finish when it ends', async () => {
    const answers = new Map<string, ApiResponse>();
    let orders: Promise<unknown>[] = [];
    const startedMs = performance.now();
    await whileLocked(service, balanceOf(busy), async () => {
      orders = Array.from({ length: 4 * connectionsMax }, async (_, index) => {
        answers.set(`order-${index}`, await transfer(busy, `order-${index}`));
      });
      await eventually('as many wait for the balance as have a place, and the others are known', async () => {
        return (await waitingForLocks()) === placesMax && service.db.waiting === 0;
      });
      const another = await transfer(other, 'meanwhile');
      assert.equal(another.status, 201, another.text);
      const now = service.clock.now();
      const queue = networkQueue({ network: 'aps', testMode: true }, 'payouts');
      const claim = { merchantId: other.merchant.id, queue, now, leaseEndsAt: addMs(now, 60_000), rowsMax: 10 };
      assert.equal((await claimWork(service.db, claim)).length, 2);
      assert.ok((await waitingForLocks()) <= placesMax);
      assert.equal(service.db.waiting, 0, 'nobody waits for a connection');
    });
    await Promise.all(orders);
    const tookMs = performance.now() - startedMs;
    assert.equal(answers.size, 4 * connectionsMax);
    for (const { status, text } of answers.values()) assert.ok(status === 201 || status === 503, text);
    // On a slow machine a place may wait too long for its lock, and then the next in the same place; nobody else is sent away.
    const sentAway = [...answers].filter(([, { status }]) => status === 503);
    assert.ok(sentAway.length <= placesMax * Math.floor(tookMs / lockTimeoutMs), `${sentAway.length} in ${tookMs} ms`);
    for (const [key] of sentAway) assert.equal((await transfer(busy, key)).status, 201, 'who comes back is served');
  });

  it('are refused with Retry-After once too many wait', async () => {
    const refusals: ApiResponse[] = [];
    let orders: Promise<unknown>[] = [];
    await whileLocked(service, balanceOf(busy), async () => {
      orders = Array.from({ length: 150 }, async (_, index) => {
        const answer = await transfer(busy, `crowd-${index}`);
        if (answer.status === 503) refusals.push(answer);
      });
      await eventually('some are refused', () => refusals.length > 0);
    });
    await Promise.all(orders);
    for (const { body, headers } of refusals) {
      assert.deepEqual([body['code'], headers.get('retry-after')], ['unavailable', '1']);
    }
    assert.ok(refusals.some(({ text }) => text.includes('wait for each other')));
    assert.equal((await transfer(busy, 'crowd-149')).status, 201, 'a refusal for want of a place is not remembered');
  });
});

describe('histories of a merchant that take long to read', () => {
  it('leave connections for another merchant’s request, and are read two at a time', async () => {
    const { key } = busy;
    const answers: ApiResponse[] = [];
    let reads: Promise<unknown>[] = [];
    await whileLocked(service, { text: 'LOCK TABLE ledger_movements' }, async () => {
      reads = Array.from({ length: 2 * connectionsMax }, async () => {
        answers.push(await createApiClient(service.url, key).get('/v1/balances/movements?account=payout_balance'));
      });
      await eventually('two read and the others are known', async () => {
        return (await waitingForLocks()) === historyPlacesMax && service.db.waiting === 0;
      });
      assert.equal((await createApiClient(service.url, other.key).get('/v1/transfers')).status, 200);
    });
    await Promise.all(reads);
    assert.equal(answers.length, 2 * connectionsMax);
    for (const { status, text } of answers) assert.ok(status === 200 || status === 503, text);
    const again = await createApiClient(service.url, key).get('/v1/balances/movements?account=payout_balance');
    assert.equal(again.status, 200, 'who comes back is served');
  });
});

describe('routes whose requests wait for their merchant', () => {
  it('are those that spend from its balance, and those that read all of a history', () => {
    const those = apiRoutes.filter((route) => route.merchantQueue !== undefined);
    assert.deepEqual(those.map(({ method, path, merchantQueue: queue }) => `${queue}: ${method} ${path}`).toSorted(), [
      'balance: POST /v1/sub-accounts/:id/payouts',
      'balance: POST /v1/sub-accounts/:id/waive-debt',
      'balance: POST /v1/transactions/refund',
      'balance: POST /v1/transfers',
      'history: GET /v1/balances/movements',
      'history: GET /v1/sub-accounts/:id/statement',
    ]);
  });
});
