import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createMerchantDirectory } from '../../server/src/merchants/merchant-directory.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { loadContract } from '../harness/openapi.ts';
import { readReleasedData, upgradeReleasedData } from '../harness/released-data.ts';
import { startService } from '../harness/service.ts';
import { TransferStory } from '../harness/transfer-story.ts';

type Body = Record<string, unknown>;

// The last release wrote this database, with some work still open. tools/record-data.ts lists its content.
describe('data of the last release, after an upgrade', () => {
  const data = readReleasedData();
  let story: TransferStory;
  let drop: () => Promise<void>;

  before(async () => {
    const database = await upgradeReleasedData(data);
    const clock = new ManualClock(new Date(data.recordedAt));
    const service = await startService({ clock, database });
    drop = async () => {
      await service.stop();
      await database.drop();
    };
    const merchant = await createMerchantDirectory(service.db, clock).byId(data.merchantId);
    assert.ok(merchant, 'the merchant is found');
    const key = await service.newKey(merchant);
    const contract = await loadContract();
    story = new TransferStory(service, clock, {
      merchant: { merchant, key, endpointId: '', webhookSecret: '' },
      contract,
    });
  });
  after(() => drop());

  const list = async (path: string): Promise<Body[]> => {
    const response = await story.api.get(path);
    assert.equal(response.status, 200, `${path}: ${response.text}`);
    const records = response.body['data'] as Body[];
    assert.ok(records.length > 0, `${path} lists something`);
    return records;
  };

  const records: [path: string, idOf: string][] = [
    ['/v1/payments', 'payment_intent_id'],
    ['/v1/transactions', 'id'],
    ['/v1/refunds', 'id'],
    ['/v1/transfers', 'id'],
    ['/v1/customers', 'id'],
    ['/v1/sub-accounts', 'id'],
    ['/v1/sub-account-groups', 'id'],
    ['/v1/payment-links', 'id'],
    ['/v1/virtual-terminals', 'id'],
    ['/v1/webhook-endpoints', 'id'],
    ['/v1/events', 'id'],
  ];
  for (const [path, idOf] of records)
    test(`each record of ${path} is listed and retrieved`, async () => {
      for (const record of await list(`${path}?limit=100`)) {
        const response = await story.api.get(`${path}/${String(record[idOf])}`);
        assert.equal(response.status, 200, response.text);
      }
    });

  test('timelines, statements and movements are retrieved', async () => {
    for (const { payment_intent_id: id } of await list('/v1/payments'))
      await list(`/v1/payments/${String(id)}/timeline`);
    for (const { id } of await list('/v1/transfers')) await list(`/v1/transfers/${String(id)}/timeline`);
    for (const { id } of await list('/v1/sub-accounts')) {
      assert.equal((await story.api.get(`/v1/sub-accounts/${String(id)}/statement`)).status, 200);
      await list(`/v1/balances/movements?account=sub:${String(id)}`);
    }
  });

  test('a request from before the upgrade is replayed with the same bytes', async () => {
    const { key, body, response } = data.replay;
    const replayed = await story.api.post('/v1/transfers', body, { 'idempotency-key': key });
    assert.equal(replayed.text, response);
    assert.equal(replayed.headers.get('idempotent-replayed'), 'true');
  });

  test('open work is completed: a payment, a transfer, a payer who still has to approve', async () => {
    await story.settle();
    const paid = await list('/v1/transactions?status=completed');
    assert.ok(paid.some(({ amount }) => amount === 60));
    assert.ok((await list('/v1/transfers?status=completed')).some(({ amount }) => amount === 70));
    const waiting = (await list('/v1/transactions?status=pending')).find(({ amount }) => amount === 75);
    await story.onPhone(String(waiting?.['id']), 'approve');
    // The callback goes to the service's address before the upgrade; a look-up finds the outcome.
    await story.advance(60_000);
    // The merchants of this release had no places, which sweeps start from; by now they have.
    await story.advance(60_000);
    assert.equal((await story.transaction(String(waiting?.['id'])))['status'], 'completed');
  });

  test('all records can be updated, paid, refunded and paid out', async () => {
    const put = async (path: string, change: Body) => {
      const headers = { 'content-type': 'application/json' };
      const response = await story.api.send('PUT', path, { body: JSON.stringify(change), headers });
      assert.equal(response.status, 200, `${path}: ${response.text}`);
    };
    const changes: [path: string, change: Body][] = [
      ['/v1/customers', { name: 'Awa Jallow' }],
      ['/v1/sub-accounts', { percentage: 25 }],
      ['/v1/sub-account-groups', { name: 'Fees' }],
      ['/v1/payment-links', { title: 'Fees' }],
      ['/v1/virtual-terminals', { name: 'Back counter' }],
      ['/v1/webhook-endpoints', { enabled_events: ['charge.succeeded'] }],
    ];
    for (const [path, change] of changes) {
      for (const { id } of await list(path)) await put(`${path}/${String(id)}`, change);
    }
    const [share] = await list('/v1/sub-accounts');
    const paid = await story.paySettled('7000001', { sub_account: share?.['id'] });
    const { id: reference } = await story.transaction(paid);
    assert.equal((await story.api.post('/v1/transactions/refund', { reference })).status, 201);
    for (const charge of (await list('/v1/transactions?status=completed')).filter(({ id }) => id !== reference)) {
      const refund = await story.api.post('/v1/transactions/refund', { reference: charge['id'] });
      assert.equal(refund.status, 201, refund.text);
    }
    await story.transferSettled('7000001');
    assert.equal(
      (
        await story.api.post('/v1/events/resend', {
          endpoint_id: (await list('/v1/webhook-endpoints'))[0]?.['id'],
          status: 'all',
        })
      ).status,
      200,
    );
    await story.settle();
    await story.advance(24 * 60 * 60 * 1_000);
    assert.equal(
      (await list('/v1/refunds')).every(({ status }) => status === 'completed'),
      true,
    );
  });

  test('the ledger balances, and the service logged no error', async () => {
    await story.verify();
    const errors = story.service.logLines.filter((line) => /"level":"(?:error|fatal)"/.test(line));
    assert.deepEqual(errors, []);
  });
});
