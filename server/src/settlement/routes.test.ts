import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { createApiClient, type ApiResponse, type ApiClient } from '../../../test/harness/api-client.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { startTransferStory, type TransferStory } from '../../../test/harness/transfer-story.ts';
import { caseCommands } from '../operator/case-commands.ts';
import { reserveCommands } from '../operator/reserve-commands.ts';

const hourMs = 60 * 60 * 1_000;

let story: TransferStory;
let stranger: TransferStory;

before(async () => {
  story = await startTransferStory();
  stranger = await story.forAnotherMerchant();
});
after(async () => {
  await story.verify();
  await story.stop();
});

async function newSubAccount(accountNumber = '7000001', api: ApiClient = story.api): Promise<string> {
  const response = await api.post('/v1/sub-accounts', {
    name: 'Awa Ceesay',
    percentage: 20,
    settlement_code: 'aps',
    account_number: accountNumber,
  });
  assert.equal(response.status, 201, response.text);
  return String(response.body['id']);
}

/** A share of 20 dalasi. */
async function share(subAccountId: string, data: object = {}): Promise<void> {
  await story.paySettled('7000001', { amount: 100, sub_account: subAccountId, ...data });
}

function payOut(id: string, body: object = {}, { key = randomUUID(), api = story.api } = {}): Promise<ApiResponse> {
  return api.post(`/v1/sub-accounts/${id}/payouts`, body, { 'idempotency-key': key });
}

function refusal({ status, body }: ApiResponse): string {
  return `${status} ${String(body['code'])}`;
}

describe('POST /v1/sub-accounts/{id}/payouts', () => {
  it('answers 201 with the transfer, which arrives in full, and emits an event', async () => {
    const id = await newSubAccount();
    await share(id);
    const response = await payOut(id);
    assert.equal(response.status, 201, response.text);
    const { id: payoutId, ...record } = response.body;
    for (const [name, value] of Object.entries({
      kind: 'sub_account_payout',
      sub_account: id,
      status: 'pending',
      amount: 20,
      fee: 0,
      network: 'aps',
      account_number: '7000001',
      beneficiary_name: 'Awa Ceesay',
    })) {
      assert.deepEqual(record[name], value, name);
    }
    await story.settle();
    assert.equal(await story.statusOf(String(payoutId)), 'completed');
    assert.equal((await story.api.get(`/v1/sub-accounts/${id}`)).body['balance'], 0);
    assert.deepEqual(await story.events(String(payoutId)), ['sub_account.payout.succeeded']);
    const listed = await story.api.get('/v1/transfers?limit=1');
    assert.equal((listed.body['data'] as { id: string }[])[0]?.id, payoutId, 'it is among the transfers');
  });

  it('creates a transfer that cannot be cancelled, and that only its merchant finds', async () => {
    const id = await newSubAccount();
    await share(id);
    const payout = String((await payOut(id)).body['id']);
    assert.equal(refusal(await story.api.post(`/v1/transfers/${payout}/cancel`)), '409 state_conflict');
    assert.equal(refusal(await stranger.api.post(`/v1/transfers/${payout}/cancel`)), '404 not_found');
    await story.settle();
    assert.equal(await story.statusOf(payout), 'completed');
    assert.equal(refusal(await story.api.post(`/v1/transfers/${payout}/cancel`)), '409 state_conflict');
  });

  it('has a timeline from acceptance to completion', async () => {
    const id = await newSubAccount();
    await share(id);
    const payout = String((await payOut(id)).body['id']);
    await story.settle();
    const { body } = await story.api.get(`/v1/transfers/${payout}/timeline`);
    assert.deepEqual(
      (body['data'] as { kind: string }[]).map(({ kind }) => kind),
      ['accepted', 'sent_to_network', 'sub_account.payout.succeeded'],
    );
  });

  it('answers 400 without an Idempotency-Key, and 422 for a key of another request', async () => {
    const id = await newSubAccount();
    await share(id);
    const without = await story.api.post(`/v1/sub-accounts/${id}/payouts`, {});
    assert.equal(refusal(without), '400 idempotency_key_invalid');
    const key = randomUUID();
    assert.equal((await payOut(id, { amount: 5 }, { key })).status, 201);
    assert.equal(refusal(await payOut(id, { amount: 6 }, { key })), '422 idempotency_key_reused');
  });

  it('pays once for a key, also when the first response is no longer stored', async () => {
    const id = await newSubAccount();
    await share(id);
    await share(id);
    const key = randomUUID();
    const first = await payOut(id, { amount: 12 }, { key });
    const again = await payOut(id, { amount: 12 }, { key });
    assert.equal(again.text, first.text);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    await story.advance(80 * hourMs);
    const later = await payOut(id, { amount: 12 }, { key });
    assert.deepEqual([later.status, later.body['id'], later.body['status']], [201, first.body['id'], 'completed']);
    assert.equal((await story.api.get(`/v1/sub-accounts/${id}`)).body['balance'], 28);
  });

  it('answers 400 below the minimum, and the key replays it', async () => {
    const id = await newSubAccount();
    const key = randomUUID();
    assert.equal(refusal(await payOut(id, {}, { key })), '400 balance_below_minimum');
    await share(id);
    // A remembered answer has the first request's id, which the other client would not take.
    const api = createApiClient(story.service.url, story.merchant.key);
    assert.equal(refusal(await payOut(id, {}, { key, api })), '400 balance_below_minimum');
    assert.equal(refusal(await payOut(id, { amount: 20.01 })), '400 insufficient_balance');
    assert.equal(refusal(await payOut(id, { amount: 0.5 })), '400 amount_out_of_bounds');
    for (const amount of [-1, 1.234, '5', true]) {
      assert.equal(refusal(await payOut(id, { amount })), '400 invalid_request', JSON.stringify(amount));
    }
    assert.equal((await payOut(id, { amount: null })).body['amount'], 20);
  });

  it('answers 404 for another merchant’s and an unknown sub-account', async () => {
    const id = await newSubAccount();
    await share(id);
    assert.equal(refusal(await payOut(id, {}, { api: stranger.api })), '404 not_found');
    assert.equal(refusal(await payOut(randomUUID())), '404 not_found');
    assert.equal(refusal(await payOut('nonsense')), '404 not_found');
  });

  it('pays out a paused sub-account', async () => {
    const id = await newSubAccount();
    await share(id);
    const paused = { body: '{"active":false}', headers: { 'content-type': 'application/json' } };
    assert.equal((await story.api.send('PUT', `/v1/sub-accounts/${id}`, paused)).status, 200);
    assert.equal((await payOut(id)).status, 201);
  });

  it('returns the money when the network refuses', async () => {
    const id = await newSubAccount('7000002');
    await share(id);
    const payout = String((await payOut(id)).body['id']);
    await story.settle();
    assert.equal(await story.statusOf(payout), 'failed');
    assert.equal((await story.api.get(`/v1/sub-accounts/${id}`)).body['balance'], 20);
    assert.deepEqual(await story.events(payout), ['sub_account.payout.failed']);
  });
});

describe('DELETE /v1/sub-accounts/{id}', () => {
  it('answers 200, and from then on the sub-account answers 404', async () => {
    const id = await newSubAccount();
    const deleted = await story.api.send('DELETE', `/v1/sub-accounts/${id}`);
    assert.deepEqual([deleted.status, deleted.body], [200, { id, deleted: true }]);
    assert.equal(refusal(await story.api.send('DELETE', `/v1/sub-accounts/${id}`)), '404 not_found');
    assert.equal(refusal(await story.api.get(`/v1/sub-accounts/${id}`)), '404 not_found');
    assert.equal(refusal(await story.api.get(`/v1/sub-accounts/${id}/statement`)), '404 not_found');
    assert.equal(refusal(await payOut(id)), '404 not_found');
    const payment = await story.api.post('/v1/payments', { data: { amount: 10, sub_account: id } });
    assert.equal(refusal(payment), '400 invalid_request');
  });

  it('answers 400 while it is in use, and 404 to another merchant', async () => {
    const id = await newSubAccount();
    await share(id);
    const refused = await story.api.send('DELETE', `/v1/sub-accounts/${id}`);
    assert.equal(refusal(refused), '400 sub_account_in_use');
    assert.match(String(refused.body['message']), /^The sub-account still has D20\.00\. Pay it out first; /);
    assert.equal(refusal(await stranger.api.send('DELETE', `/v1/sub-accounts/${id}`)), '404 not_found');
  });
});

describe('GET /v1/sub-accounts/{id}/statement', () => {
  it('answers pages, oldest line first, with the balances of the whole period', async () => {
    const id = await newSubAccount();
    for (let count = 0; count < 3; count += 1) await share(id, { title: `Rent ${count}` });
    await payOut(id, { amount: 15 });
    const path = `/v1/sub-accounts/${id}/statement?limit=3`;
    const first = (await story.api.get(path)).body;
    const lines = first['data'] as Record<string, unknown>[];
    assert.deepEqual(
      lines.map(({ kind, amount, balance, description }) => [kind, amount, balance, description]),
      [
        ['share', 20, 20, 'Rent 0'],
        ['share', 20, 40, 'Rent 1'],
        ['share', 20, 60, 'Rent 2'],
      ],
    );
    assert.deepEqual([first['opening_balance'], first['closing_balance']], [0, 45]);
    const { next_cursor: cursor } = first['meta'] as { next_cursor: string };
    const second = (await story.api.get(`${path}&cursor=${cursor}`)).body;
    assert.deepEqual(
      (second['data'] as Record<string, unknown>[]).map(({ kind, amount, balance }) => [kind, amount, balance]),
      [['payout', -15, 45]],
    );
    assert.deepEqual(second['meta'], { limit: 3, next_cursor: null });
    const charge = await story.api.get(`/v1/transactions/${String(lines[0]?.['source_id'])}`);
    assert.equal(charge.status, 200, 'a line leads to its payment');
    await story.settle();
  });

  it('answers CSV for Accept: text/csv', async () => {
    const id = await newSubAccount();
    await share(id, { title: '=1+1' });
    const api = createApiClient(story.service.url, story.merchant.key);
    const response = await api.send('GET', `/v1/sub-accounts/${id}/statement`, { headers: { accept: 'text/csv' } });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8');
    assert.equal(response.headers.get('content-disposition'), `attachment; filename="statement-${id}.csv"`);
    assert.equal(response.headers.get('vary'), 'accept');
    assert.match(
      response.text,
      /^time,kind,amount,.*\r\n,opening_balance,,0\.00,.*\r\n[^,]+,share,20\.00,20\.00,GMD,[^,]+,"'=1\+1",charge,/,
    );
  });

  it('refuses a CSV request in JSON', async () => {
    const id = await newSubAccount();
    const headers = { accept: 'text/csv' };
    const path = `/v1/sub-accounts/${id}/statement`;
    for (const [api, address, refused] of [
      [stranger.api, path, '404 not_found'],
      [story.api, `${path}?from=yesterday`, '400 invalid_request'],
      [story.api, `${path}?colour=red`, '400 unknown_field'],
    ] as const) {
      const response = await api.send('GET', address, { headers });
      assert.equal(refusal(response), refused);
      assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
    }
  });
});

describe('POST /v1/sub-accounts/{id}/waive-debt', () => {
  it('ends a debt, which until then has its amount and age in the metrics and a line in the list', async () => {
    const shop = await story.forAnotherMerchant();
    const id = await newSubAccount('7000001', shop.api);
    const payment = await shop.paySettled('7000001', { amount: 100, sub_account: id });
    assert.equal((await payOut(id, {}, { api: shop.api })).status, 201);
    await shop.settle();
    const { transaction_reference: reference } = await shop.transaction(payment);
    assert.equal((await shop.api.post('/v1/transactions/refund', { reference })).status, 201);
    await shop.settle();
    const read = async () => (await shop.api.get(`/v1/sub-accounts/${id}`)).body;
    assert.deepEqual([(await read())['balance'], (await read())['owed_balance']], [0, 20]);
    await story.advance(hourMs);
    assert.equal(await story.gauge('dalasi_owed_bututs{kind="sub_owed"}'), 2_000);
    assert.equal(await story.gauge('dalasi_owed_oldest_seconds{kind="sub_owed"}'), hourMs / 1_000);
    const line = new RegExp(`^Another Shop \\(test\\) +sub_owed:${id} +GMD 20\\.00 .*waive-debt`, 'm');
    assert.match(await story.operate(caseCommands, 'cases list'), line);
    const remove = () => shop.api.send('DELETE', `/v1/sub-accounts/${id}`);
    assert.equal(refusal(await remove()), '400 sub_account_in_use');
    const path = `/v1/sub-accounts/${id}/waive-debt`;
    const all = { amount: 20 };
    const key = { 'idempotency-key': randomUUID() };
    assert.equal(refusal(await shop.api.post(path, all)), '400 idempotency_key_invalid');
    assert.equal(refusal(await shop.api.post(path, {}, key)), '400 invalid_request', 'what is waived is named');
    assert.equal(refusal(await shop.api.post(path, { amount: 20.01 }, key)), '400 amount_out_of_bounds');
    assert.equal(refusal(await stranger.api.post(path, all, key)), '404 not_found');
    for (const replayed of [null, 'true']) {
      const waived = await shop.api.post(path, all, key);
      assert.deepEqual([waived.status, waived.headers.get('idempotent-replayed')], [200, replayed], waived.text);
      assert.deepEqual([waived.body['id'], waived.body['balance'], 'owed_balance' in waived.body], [id, 0, false]);
    }
    const another = { 'idempotency-key': randomUUID() };
    assert.equal(refusal(await shop.api.post(path, all, another)), '400 amount_out_of_bounds', 'nothing is owed');
    assert.equal(await story.gauge('dalasi_owed_bututs{kind="sub_owed"}'), 0);
    assert.equal(await story.gauge('dalasi_owed_oldest_seconds{kind="sub_owed"}'), 0);
    assert.doesNotMatch(await story.operate(caseCommands, 'cases list'), /sub_owed/);
    const { body } = await shop.api.get(`/v1/balances/movements?account=sub_owed:${id}`);
    assert.equal((body['data'] as { flow: string }[])[0]?.flow, 'debt_waived');
    assert.equal((await remove()).status, 200);
    assert.equal(refusal(await shop.api.post(path, all, another)), '404 not_found');
  });
});

describe('a reserve that an operator sets', () => {
  it('holds its part of later payments, shares included, until the operator clears it', async () => {
    const shop = await story.forAnotherMerchant();
    const id = await newSubAccount('7000001', shop.api);
    const { id: merchantId } = shop.merchant.merchant;
    const whose = ['--merchant', merchantId];
    const set = await story.operate(reserveCommands, 'reserve set', [...whose, '--percent', '10', '--hours', '48']);
    assert.match(set, /10 % +48 hours +of any age +own rule/);
    // A merchant is remembered for three seconds.
    await story.advance(4_000);
    const pay = () => shop.paySettled('7000001', { amount: 100, sub_account: id });
    const waits = async () => (await shop.api.get('/v1/balances')).body['available_balance'];
    await pay();
    assert.equal(await waits(), 8);
    assert.equal((await shop.api.get(`/v1/balances/movements?account=sub:${id}:pending`)).body['balance'], 2);
    await story.operate(reserveCommands, 'reserve clear', whose);
    await story.advance(4_000);
    await pay();
    assert.equal(await waits(), 8, 'what is kept stays until its time');
    await eventually('its time has come', async () => {
      await shop.advance(24 * hourMs);
      return (await waits()) === 0;
    });
    assert.equal((await shop.api.get(`/v1/sub-accounts/${id}`)).body['balance'], 40);
  });
});

describe('GET /v1/balances/movements', () => {
  it('answers the movements behind a balance, newest first, now and at an earlier moment', async () => {
    const shop = await story.forAnotherMerchant();
    const own = async (query: string) => (await shop.api.get(`/v1/balances/movements?${query}`)).body;
    const before = await own('account=payout_balance');
    assert.deepEqual([before['balance'], (before['data'] as object[]).length], [1_000_000, 1], 'test money');
    const noon = story.clock.now().toISOString();
    await story.clock.advance(hourMs);
    const ordered = await shop.request('7000004', { amount: 100 });
    const now = await own('account=payout_balance');
    assert.equal(now['balance'], (await shop.api.get('/v1/balances')).body['payout_balance']);
    const [newest] = now['data'] as Record<string, unknown>[];
    assert.deepEqual(
      [newest?.['flow'], newest?.['amount'], newest?.['balance'], newest?.['source_type'], newest?.['source_id']],
      ['held', -100, 999_900, 'transfer', ordered.body['id']],
    );
    assert.equal((await own(`account=payout_balance&at=${noon}`))['balance'], 1_000_000);
    const day = story.clock.now().toISOString().slice(0, 10);
    const whole = await own(`account=payout_balance&at=${day}`);
    assert.deepEqual([whole['at'], whole['balance']], [`${day}T23:59:59.999Z`, now['balance']], 'the end of that day');
    const page = await own('account=payout_balance&limit=1');
    const { next_cursor: cursor } = page['meta'] as { next_cursor: string };
    const [older] = (await own(`account=payout_balance&limit=1&cursor=${cursor}`))['data'] as object[];
    assert.deepEqual(older, (before['data'] as object[])[0]);
    const { source_type: sourceType, source_id: sourceId } = older as Record<string, unknown>;
    assert.deepEqual([sourceType, sourceId], ['merchant', shop.merchant.merchant.id], 'test money is of the merchant');
    assert.equal((await own('account=available_balance'))['balance'], 0);
  });

  it('answers for sub-accounts, also deleted ones', async () => {
    const id = await newSubAccount();
    await share(id);
    const response = await story.api.get(`/v1/balances/movements?account=sub:${id}`);
    assert.equal(response.body['balance'], 20);
    const inCapitals = await story.api.get(`/v1/balances/movements?account=sub:${id.toUpperCase()}`);
    assert.deepEqual(inCapitals.body, response.body);
    await payOut(id);
    await story.settle();
    assert.equal((await story.api.send('DELETE', `/v1/sub-accounts/${id}`)).status, 200);
    const later = await story.api.get(`/v1/balances/movements?account=sub:${id}`);
    assert.deepEqual([later.body['balance'], (later.body['data'] as object[]).length], [0, 2]);
    assert.equal((await story.api.get(`/v1/balances/movements?account=sub:${id}:pending`)).body['balance'], 0);
  });

  it('refuses unknown accounts, and another merchant’s', async () => {
    const id = await newSubAccount();
    for (const account of ['float:wave-test', 'fees', 'sub:', 'sub:x', `sub:${randomUUID()}`, `sub:${id}:x`, '']) {
      const response = await story.api.get(`/v1/balances/movements?account=${encodeURIComponent(account)}`);
      assert.equal(refusal(response), '400 invalid_request', account);
    }
    const foreign = await stranger.api.get(`/v1/balances/movements?account=sub:${id}`);
    assert.equal(refusal(foreign), '400 invalid_request');
  });
});
