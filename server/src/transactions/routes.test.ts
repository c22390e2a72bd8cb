import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ApiClient } from '../../../test/harness/api-client.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createContractClient, loadContract, type Contract } from '../../../test/harness/openapi.ts';
import { startService, type TestService } from '../../../test/harness/service.ts';
import { asOwner } from '../../../test/harness/tables.ts';

const minuteMs = 60_000;
const statuses = ['pending', 'completed', 'failed', 'cancelled', 'refunded', 'reversed'];

const clock = new ManualClock();
let service: TestService;
let contract: Contract;

before(async () => {
  service = await startService({ clock });
  contract = await loadContract();
});
after(() => service.stop());

async function newMerchant(): Promise<{ api: ApiClient; merchantId: string }> {
  const { test } = await service.onboard();
  return { api: createContractClient(contract, service.url, test.key), merchantId: test.merchant.id };
}

interface Page {
  ids: string[];
  meta: { total: number; total_is_capped?: boolean; limit: number; offset: number; next_cursor: string | null };
}

async function list(api: ApiClient, query = ''): Promise<Page> {
  const response = await api.get(`/v1/transactions?${query}`);
  assert.equal(response.status, 200, response.text);
  const ids = (response.body['data'] as { id: string }[]).map(({ id }) => id);
  return { ids, meta: response.body['meta'] as Page['meta'] };
}

/** A payment whose payer never approves, and its transaction. */
async function pay(api: ApiClient, data: object = {}): Promise<Record<string, unknown>> {
  const request = { amount: 10, network: 'qmoney', account_number: '7010004', ...data };
  const made = await api.post('/v1/payments', { data: request });
  assert.equal(made.status, 201, made.text);
  // The worker records that it has called the network, so read the record only after that.
  await service.app.drain();
  return (await api.get(`/v1/transactions/${String(made.body['payment_intent_id'])}`)).body;
}

async function payTimes(api: ApiClient, count: number): Promise<string[]> {
  const made: string[] = [];
  for (let time = 1; time <= count; time += 1) made.unshift(String((await pay(api))['id']));
  return made;
}

/** Copies of a charge, stored as further attempts of its intent. */
async function multiply(merchantId: string, id: string, copies: { from: number; to: number }): Promise<void> {
  await asOwner(
    service,
    `INSERT INTO charges SELECT copied.* FROM charges AS original, generate_series($3::integer, $4) AS place,
       LATERAL jsonb_populate_record(original, jsonb_build_object('id', '01a00000-0000-7000-8000-' || lpad(place::text, 12, '0'),
         'attempt', place + 1, 'reference', place::text, 'transaction_reference', place::text)) AS copied
     WHERE original.merchant_id = $1 AND original.id = $2`,
    [merchantId, id, copies.from, copies.to],
  );
}

describe('GET /v1/transactions/{id}', () => {
  it('returns the charge by its own id and, as the newest attempt, by its payment’s id', async () => {
    const { api, merchantId } = await newMerchant();
    const record = await pay(api, { customer_name: 'Awa Ceesay', metadata: { order: 17 } });
    assert.deepEqual((await api.get(`/v1/transactions/${String(record['id'])}`)).body, record);
    const { account_id: accountId, payment_account: account, test_mode: testMode, status, metadata } = record;
    assert.deepEqual(
      [accountId, account, testMode, status, metadata],
      [merchantId, '.... 0004', true, 'pending', { order: 17 }],
    );
    assert.match(String(record['transaction_reference']), /^TX-20261120-\d{6}-[0-9A-Z]{8}$/);
    await multiply(merchantId, String(record['id']), { from: 1, to: 1 });
    const newest = await api.get(`/v1/transactions/${String(record['payment_intent_id'])}`);
    assert.deepEqual([newest.body['attempt'], newest.body['reference']], [2, '1']);
  });

  it('distinguishes a payment without an attempt from an unknown one', async () => {
    const { api } = await newMerchant();
    const { body } = await api.post('/v1/payments', { data: { amount: 10 } });
    const untried = await api.get(`/v1/transactions/${String(body['payment_intent_id'])}`);
    assert.deepEqual([untried.status, untried.body['code']], [404, 'no_charge_yet']);
    const unknown = await api.get('/v1/transactions/01a1f8ac-4b37-7417-9fed-11d78420f713');
    assert.deepEqual([unknown.status, unknown.body['code']], [404, 'not_found']);
  });
});

describe('GET /v1/transactions', () => {
  it('pages newest first, by offset or cursor, with every transaction once', async () => {
    const { api } = await newMerchant();
    const made = await payTimes(api, 12);
    const first = await list(api);
    assert.deepEqual(
      [first.ids, first.meta],
      [made.slice(0, 10), { total: 12, limit: 10, offset: 0, next_cursor: made[9] }],
    );
    assert.deepEqual((await list(api, 'offset=10')).ids, made.slice(10));
    const walked: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Page = await list(api, `limit=5${cursor === '' ? '' : `&cursor=${cursor}`}`);
      walked.push(...page.ids);
      cursor = page.meta.next_cursor;
    }
    assert.deepEqual(walked, made);
  });

  it('counts exactly up to 10,000, then reports that there are more', async () => {
    const { api, merchantId } = await newMerchant();
    const { id } = await pay(api);
    await multiply(merchantId, String(id), { from: 1, to: 9_999 });
    for (const query of ['', 'status=pending']) {
      const { meta } = await list(api, query);
      assert.deepEqual([meta.total, meta.total_is_capped], [10_000, undefined], query);
    }
    await multiply(merchantId, String(id), { from: 10_000, to: 10_000 });
    for (const query of ['', '', 'status=pending']) {
      const { meta } = await list(api, query);
      assert.deepEqual([meta.total, meta.total_is_capped], [10_000, true], query);
    }
  });

  it('filters by status; each transaction has exactly one', async () => {
    const { api } = await newMerchant();
    const made = await payTimes(api, statuses.length);
    for (const [index, status] of statuses.entries()) {
      await asOwner(service, 'UPDATE charges SET status = $2 WHERE id = $1', [made[index], status]);
    }
    for (const [index, status] of statuses.entries()) {
      const { ids, meta } = await list(api, `status=${status}`);
      assert.deepEqual([ids, meta.total], [[made[index]], 1], status);
    }
    for (const wrong of ['paid', 'successful', '', 'COMPLETED']) {
      assert.equal((await api.get(`/v1/transactions?status=${wrong}`)).status, 400, wrong);
    }
  });

  it('filters by time, both ends included, and by the last minutes', async () => {
    const { api } = await newMerchant();
    const start = clock.now().getTime();
    const made: string[] = [];
    for (let index = 0; index < 4; index += 1) {
      made.unshift(...(await payTimes(api, 1)));
      await clock.advance(10 * minuteMs);
    }
    const at = (minute: number, ms = 0) => new Date(start + minute * minuteMs + ms).toISOString();
    assert.deepEqual((await list(api, `from=${at(20)}`)).ids, made.slice(0, 2));
    assert.deepEqual((await list(api, `from=${at(20, 1)}&to=${at(30)}`)).ids, made.slice(0, 1));
    assert.deepEqual((await list(api, `to=${at(10)}`)).ids, made.slice(2));
    // Now is ten minutes after the newest transaction.
    assert.deepEqual((await list(api, 'timeframe=9')).ids, []);
    assert.deepEqual((await list(api, 'timeframe=10')).ids, made.slice(0, 1));
    assert.deepEqual((await list(api, 'timeframe=30')).ids, made.slice(0, 3));
    assert.deepEqual((await list(api, 'timeframe=525600')).ids, made);
    const both = await list(api, `timeframe=40&to=${at(15)}&limit=1`);
    assert.deepEqual([both.ids, both.meta.total], [[made[2]], 2]);
    for (const wrong of [
      `timeframe=10&from=${at(0)}`,
      'timeframe=0',
      'timeframe=-5',
      'timeframe=525601',
      'timeframe=1h',
      'timeframe=',
    ]) {
      const response = await api.get(`/v1/transactions?${wrong}`);
      assert.deepEqual(
        [response.status, (response.body['errors'] as { path: string }[])[0]?.path],
        [400, 'timeframe'],
        wrong,
      );
    }
  });

  it('searches the payer’s name, email and numbers in any spelling', async () => {
    const { api } = await newMerchant();
    const find = async (term: string) => (await list(api, `term=${encodeURIComponent(term)}`)).ids;
    const awa = await pay(api, { customer_name: 'Awa 100% Ceesay', customer_phone: '+220 87 701 2345' });
    const lamin = await pay(api, { account_number: '3660004', network: 'afrimoney', customer_email: 'l@shop.example' });
    const [first, second] = [String(awa['id']), String(lamin['id'])];
    for (const term of ['awa 1', '100%', 'CEESAY', '7012345', '+220 701 2345', '877012345'])
      assert.deepEqual(await find(term), [first], term);
    for (const term of ['L@Shop', '366 0004', '+220 366 0004', '833660004', '00220-83-366-0004'])
      assert.deepEqual(await find(term), [second], term);
    assert.deepEqual((await list(api, 'term=awa%201&status=pending')).ids, [first]);
    assert.deepEqual((await list(api, 'term=awa%201&status=failed')).ids, []);
    const stranger = await newMerchant();
    assert.deepEqual((await list(stranger.api, 'term=awa%201')).ids, []);
  });

  it('searches numbers and references literally', async () => {
    const { api } = await newMerchant();
    const find = async (term: string) => (await list(api, `term=${encodeURIComponent(term)}`)).ids;
    const one = await pay(api, { account_number: '+220 701-0004' });
    const other = await pay(api, { account_number: '3660004', network: 'afrimoney' });
    const [first, second] = [String(one['id']), String(other['id'])];
    assert.deepEqual(await find('701-00'), [first], 'as it was sent');
    assert.deepEqual(await find('366000'), [second]);
    for (const name of ['reference', 'transaction_reference', 'id', 'payment_intent_id']) {
      assert.deepEqual(await find(String(one[name])), [first], name);
    }
    assert.deepEqual(await find(String(one['transaction_reference']).slice(-6).toLowerCase()), [first]);
    for (const nothing of ['%', '_', '\\', 'nowhere']) assert.deepEqual(await find(nothing), [], nothing);
    for (const query of ['term=', 'search=', 'term=%20'])
      assert.deepEqual((await list(api, query)).ids, [second, first], query);
    assert.deepEqual((await list(api, 'search=366000')).ids, [second]);
  });
});
