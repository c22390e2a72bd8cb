import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createApiClient, type ApiResponse } from '../../../test/harness/api-client.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { startService, type TestMerchant, type TestService } from '../../../test/harness/service.ts';
import { asOwner, whileLocked } from '../../../test/harness/tables.ts';
import { apiRoutes } from '../app/api-routes.ts';
import { claimWork, networkQueue } from '../events/outbox.ts';
import { addMs } from '../kit/clock.ts';

const connectionsMax = 8;
// As in api-routes.ts.
const balancePermits = 6;
const historyPermits = 2;
// As in kit/db.ts: how long a request waits for a lock.
const lockTimeoutMs = 1_200;

let database: TestDatabase;
let service: TestService;
let busy: TestMerchant;
let other: TestMerchant;

before(async () => {
  database = await createTestDatabase();
  // Without a worker, so that only the test claims work.
  const settings = { ROLE: 'api', DATABASE_URL: database.adminUrl };
  service = await startService({ database, connectionsMax, settings, isPatient: false });
  busy = (await service.onboard()).test;
  other = (await service.onboard('Serekunda Shoes')).test;
  // The account's row exists once something was paid from it.
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

/** Connections of the service that wait for a lock. */
async function waitingForLocks(): Promise<number> {
  const [row] = await asOwner<{ count: number }>(
    service,
    `SELECT count(*)::integer AS count FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' AND application_name = 'dalasi'`,
  );
  return row?.count ?? 0;
}

describe('transfers of a merchant whose balance is locked by a slow transaction', () => {
  it('leave connections for other merchants and for workers, and finish when it ends', async () => {
    const responses = new Map<string, ApiResponse>();
    let requests: Promise<unknown>[] = [];
    const startedMs = performance.now();
    await whileLocked(service, balanceOf(busy), async () => {
      requests = Array.from({ length: 4 * connectionsMax }, async (_, index) => {
        responses.set(`transfer-${index}`, await transfer(busy, `transfer-${index}`));
      });
      await eventually('one request per permit waits for the balance, and the others are queued', async () => {
        return (await waitingForLocks()) === balancePermits && service.db.waiting === 0;
      });
      const another = await transfer(other, 'meanwhile');
      assert.equal(another.status, 201, another.text);
      const now = service.clock.now();
      const queue = networkQueue({ network: 'aps', testMode: true }, 'payouts');
      const claim = { merchantId: other.merchant.id, queue, now, leaseEndsAt: addMs(now, 60_000), rowsMax: 10 };
      assert.equal((await claimWork(service.db, claim)).length, 2);
      assert.ok((await waitingForLocks()) <= balancePermits);
      assert.equal(service.db.waiting, 0, 'no request waits for a connection');
    });
    await Promise.all(requests);
    const durationMs = performance.now() - startedMs;
    assert.equal(responses.size, 4 * connectionsMax);
    for (const { status, text } of responses.values()) assert.ok(status === 201 || status === 503, text);
    // On a slow machine requests may time out waiting for the lock, one per permit and timeout; no other is refused.
    const refused = [...responses].filter(([, { status }]) => status === 503);
    assert.ok(
      refused.length <= balancePermits * Math.floor(durationMs / lockTimeoutMs),
      `${refused.length} in ${durationMs} ms`,
    );
    for (const [key] of refused) assert.equal((await transfer(busy, key)).status, 201, 'a retry is served');
  });

  it('are refused with Retry-After once too many wait', async () => {
    const refusals: ApiResponse[] = [];
    let requests: Promise<unknown>[] = [];
    await whileLocked(service, balanceOf(busy), async () => {
      requests = Array.from({ length: 300 }, async (_, index) => {
        const response = await transfer(busy, `crowd-${index}`);
        if (response.status === 503) refusals.push(response);
      });
      await eventually('some are refused', () => refusals.length > 0);
    });
    await Promise.all(requests);
    for (const { body, headers } of refusals) {
      assert.deepEqual([body['code'], headers.get('retry-after')], ['unavailable', '1']);
    }
    assert.ok(refusals.some(({ text }) => text.includes('wait for each other')));
    assert.equal((await transfer(busy, 'crowd-299')).status, 201, 'a refusal because of the queue is not stored');
  });
});

describe('statements of a merchant that take long to read', () => {
  it('leave connections for another merchant’s request, and are read two at a time', async () => {
    const { key } = busy;
    const responses: ApiResponse[] = [];
    let reads: Promise<unknown>[] = [];
    await whileLocked(service, { text: 'LOCK TABLE ledger_movements' }, async () => {
      reads = Array.from({ length: 2 * connectionsMax }, async () => {
        responses.push(await createApiClient(service.url, key).get('/v1/balances/movements?account=payout_balance'));
      });
      await eventually('two read and the others are known', async () => {
        return (await waitingForLocks()) === historyPermits && service.db.waiting === 0;
      });
      assert.equal((await createApiClient(service.url, other.key).get('/v1/transfers')).status, 200);
    });
    await Promise.all(reads);
    assert.equal(responses.length, 2 * connectionsMax);
    for (const { status, text } of responses) assert.ok(status === 200 || status === 503, text);
    const again = await createApiClient(service.url, key).get('/v1/balances/movements?account=payout_balance');
    assert.equal(again.status, 200, 'a retry is served');
  });
});

describe('routes with a queue per merchant', () => {
  it('are those that spend from its balance, add to its payouts, or read a whole statement', () => {
    const those = apiRoutes.filter((route) => route.merchantQueue !== undefined);
    assert.deepEqual(those.map(({ method, path, merchantQueue: queue }) => `${queue}: ${method} ${path}`).toSorted(), [
      'balance: POST /v1/sub-accounts/:id/payouts',
      'balance: POST /v1/sub-accounts/:id/waive-debt',
      'balance: POST /v1/transactions/refund',
      'history: GET /v1/balances/movements',
      'history: GET /v1/sub-accounts/:id/statement',
      'payouts: POST /v1/transfers',
    ]);
  });
});
