import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createApiClient, type ApiResponse } from '../../../test/harness/api-client.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { startService, type TestMerchant, type TestService } from '../../../test/harness/service.ts';
import { SettableClock } from '../../../test/harness/settable-clock.ts';
import { asOwner, whileLocked } from '../../../test/harness/tables.ts';
import { addMs } from '../kit/clock.ts';

// As in outbox-queue.ts: how many transfers of a merchant are sent at once before a response has come.
const merchantPermits = 16;
// As in merchant-limiters.ts.
const [lateAfterMs, waitingMax] = [5_000, 256];

let database: TestDatabase;
let clock: SettableClock;
let accepting: TestService;
let service: TestService | undefined;
let busy: TestMerchant;
let other: TestMerchant;

before(async () => {
  database = await createTestDatabase();
  clock = new SettableClock(new Date());
  accepting = await startService({ database, clock, settings: { ROLE: 'api', DATABASE_URL: database.adminUrl } });
  busy = (await accepting.onboard()).test;
  other = (await accepting.onboard('Serekunda Shoes')).test;
});

after(async () => {
  await service?.stop();
  await accepting.stop();
  await database.drop();
});

function transfer(at: TestService, { key }: TestMerchant, idempotencyKey: string): Promise<ApiResponse> {
  const order = { amount: 1, network: 'aps', account_number: '7000001', beneficiary_name: 'Awa Ceesay' };
  return createApiClient(at.url, key).post('/v1/transfers', order, { 'idempotency-key': idempotencyKey });
}

test('transfers of a merchant whose payouts are late are accepted as they are sent; others’ do not wait', async () => {
  for (let index = 0; index < merchantPermits; index += 1) {
    assert.equal((await transfer(accepting, busy, `first-${index}`)).status, 201);
  }
  clock.set(addMs(clock.now(), lateAfterMs));
  const responses: ApiResponse[] = [];
  const accepted = () => responses.filter(({ status }) => status === 201).length;
  let requests: Promise<unknown>[] = [];
  const locked = { text: 'SELECT id FROM transfers WHERE merchant_id = $1 FOR UPDATE', values: [busy.merchant.id] };
  await whileLocked(accepting, locked, async () => {
    // Each of those waits for its row on a connection of its own.
    const running = await startService({ database, clock, connectionsMax: merchantPermits + 8 });
    service = running;
    await eventually('they are claimed', async () => {
      const [row] = await asOwner<{ count: number }>(
        running,
        'SELECT count(*)::integer AS count FROM outbox WHERE merchant_id = $1 AND attempts = 1',
        [busy.merchant.id],
      );
      return row?.count === merchantPermits;
    });
    const crowd = merchantPermits + waitingMax + 1;
    requests = Array.from({ length: crowd }, async (_, index) => {
      responses.push(await transfer(running, busy, `crowd-${index}`));
    });
    await eventually('one for each that was claimed is accepted, and those beyond the queue are refused', () => {
      return responses.length === merchantPermits + 1;
    });
    assert.equal(accepted(), merchantPermits);
    const refused = responses.find(({ status }) => status !== 201);
    assert.deepEqual([refused?.status, refused?.body['code']], [503, 'unavailable']);
    assert.equal(refused?.headers.get('retry-after'), '1');
    assert.equal((await transfer(running, other, 'meanwhile')).status, 201);
    assert.equal(running.db.waiting, 0, 'nobody who waits has a connection');
  });
  await Promise.all(requests);
  assert.deepEqual([responses.length, accepted()], [responses.length, merchantPermits + waitingMax]);
});
