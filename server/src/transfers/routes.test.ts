import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ApiResponse, ApiClient } from '../../../test/harness/api-client.ts';
import { asOwner, countRows } from '../../../test/harness/tables.ts';
import { setFeeRule, setLimit } from '../merchants/manage-rules.ts';
import {
  accepted,
  balanceOf,
  transferBody,
  refusal,
  send,
  startTransferApi,
  type TransferApi,
} from './transfer-api.corpus.ts';

let world: TransferApi;

before(async () => {
  world = await startTransferApi();
});
after(() => world.close());

const unknownId = '01a1f8ac-4b37-7417-9fed-11d78420f713';

function rule(changes: object) {
  const nothing = { percentHundredths: 0n, fixedMinor: 0n, minimumMinor: 0n, maximumMinor: null };
  return { ...nothing, operation: 'transfer', network: 'all', ...changes } as const;
}

describe('an accepted transfer', () => {
  it('is returned as pending with the whole record, holds amount and fee, and has called no network', async () => {
    const shop = await world.newShop();
    await setFeeRule(
      world.service.db,
      { merchantId: shop.merchant.id },
      rule({ percentHundredths: 150n, fixedMinor: 25n }),
    );
    const callback = 'http://127.0.0.1:9/transfers';
    const metadata = { payroll: 'May' };
    const { status, body } = await send(shop.api, { ...transferBody, amount: 250.5, callback_url: callback, metadata });
    const { id, reference, ...rest } = body;
    assert.equal(status, 201);
    assert.match(String(reference), new RegExp(`^${shop.merchant.shortId}[0-9A-Za-z]{22}$`));
    const now = world.clock.now().toISOString();
    assert.deepEqual(rest, {
      amount: 250.5,
      currency: 'GMD',
      status: 'pending',
      // 1.5 percent of 250.50 is 3.7575, and 0.25 on top.
      fee: 4.01,
      network: 'aps',
      account_number: '7001234',
      beneficiary_name: 'Awa Ceesay',
      narration: null,
      callback_url: callback,
      metadata,
      kind: 'transfer',
      sub_account: null,
      network_reference: null,
      network_transaction_id: null,
      waiting_for: null,
      failure_code: null,
      failure_reason: null,
      review: null,
      account_id: shop.merchant.id,
      business_id: shop.merchant.businessId,
      test_mode: true,
      createdAt: now,
      updatedAt: now,
      completed_at: null,
    });
    assert.deepEqual((await shop.api.get(`/v1/transfers/${String(id)}`)).body, body);
    assert.deepEqual(await balanceOf(shop.api), {
      available_balance: 0,
      payout_balance: 1_000_000 - 254.51,
      currency: 'GMD',
    });
    const counted = await countRows(
      world.service,
      shop.merchant.id,
      'transfers',
      'ledger_holds',
      'events',
      'transfer_notes',
    );
    assert.deepEqual(counted, { transfers: 1, ledger_holds: 1, events: 1, transfer_notes: 0 });
    const payouts = await asOwner(world.service, 'SELECT id FROM simulator.payouts');
    assert.deepEqual(payouts, []);
  });

  it('is also a transaction, by its id', async () => {
    const shop = await world.newShop();
    const id = await accepted(shop.api);
    const transaction = await shop.api.get(`/v1/transactions/${id}`);
    assert.deepEqual([transaction.status, transaction.body], [200, (await shop.api.get(`/v1/transfers/${id}`)).body]);
    const { body: rows } = await shop.api.get('/v1/transactions');
    assert.deepEqual(rows['data'], [], 'the list is of payments');
  });

  it('is not found by another merchant or from the other environment', async () => {
    const [shop, other] = [await world.newShop(), await world.newShop()];
    const id = await accepted(shop.api);
    const before = await world.tracesOf(shop);
    const ways: ((api: ApiClient, id: string) => Promise<ApiResponse>)[] = [
      (api, of) => api.get(`/v1/transfers/${of}`),
      (api, of) => api.get(`/v1/transfers/${of}/timeline`),
      (api, of) => api.post(`/v1/transfers/${of}/cancel`),
      (api, of) => api.get(`/v1/transactions/${of}`),
    ];
    for (const api of [other.api, other.live, shop.live]) {
      for (const route of ways) {
        const [foreign, missing] = [await route(api, id), await route(api, unknownId)];
        assert.deepEqual([foreign.status, foreign.body['code']], [404, 'not_found']);
        assert.equal(foreign.body['message'], missing.body['message']);
      }
      assert.deepEqual((await api.get('/v1/transfers?limit=100')).body['data'], []);
    }
    assert.deepEqual(await world.tracesOf(shop), before);
    assert.equal((await shop.api.get(`/v1/transfers/${id}`)).body['status'], 'pending');
    const balances = await Promise.all([balanceOf(other.api), balanceOf(shop.live)]);
    assert.deepEqual(
      balances.map(({ payout_balance: left }) => left),
      [1_000_000, 0],
    );
  });
});

describe('POST /v1/transfers/{id}/cancel', () => {
  it('releases amount and fee of an unsent transfer, once', async () => {
    const shop = await world.newShop();
    await setFeeRule(world.service.db, { merchantId: shop.merchant.id }, rule({ fixedMinor: 500n }));
    const id = await accepted(shop.api);
    assert.equal((await balanceOf(shop.api))['payout_balance'], 1_000_000 - 105);
    const cancelled = await shop.api.post(`/v1/transfers/${id}/cancel`);
    assert.deepEqual([cancelled.status, cancelled.body['status']], [200, 'cancelled']);
    assert.deepEqual(cancelled.body, (await shop.api.get(`/v1/transfers/${id}`)).body);
    assert.equal((await balanceOf(shop.api))['payout_balance'], 1_000_000);
    const again = await shop.api.post(`/v1/transfers/${id}/cancel`);
    assert.deepEqual([again.status, again.body['code']], [409, 'state_conflict']);
    assert.equal(again.body['message'], 'This transfer has already been cancelled.');
    assert.equal((await balanceOf(shop.api))['payout_balance'], 1_000_000);
    const { body } = await shop.api.get(`/v1/transfers/${id}/timeline`);
    assert.deepEqual(body['data'], [
      {
        at: world.clock.now().toISOString(),
        kind: 'transfer.created',
        detail: 'The transfer was accepted and its money is held.',
      },
      {
        at: world.clock.now().toISOString(),
        kind: 'transfer.cancelled',
        detail: 'The transfer was cancelled before it was sent. The money was released.',
      },
    ]);
  });

  it('ten times concurrently is one cancellation', async () => {
    const shop = await world.newShop();
    const id = await accepted(shop.api);
    const responses = await Promise.all(Array.from({ length: 10 }, () => shop.api.post(`/v1/transfers/${id}/cancel`)));
    const statuses = responses.map(({ status }) => status).toSorted();
    assert.deepEqual(statuses, [200, ...Array.from({ length: 9 }, () => 409)]);
    assert.equal((await balanceOf(shop.api))['payout_balance'], 1_000_000);
  });
});

describe('POST /v1/transfers/fees', () => {
  it('returns the fee that a transfer costs on each network, and stores nothing', async () => {
    const shop = await world.newShop();
    const owner = { merchantId: shop.merchant.id };
    await setFeeRule(
      world.service.db,
      owner,
      rule({ percentHundredths: 100n, minimumMinor: 300n, maximumMinor: 5_000n }),
    );
    await setFeeRule(world.service.db, owner, { ...rule({ fixedMinor: 1_000n }), network: 'wave' });
    const before = await world.tracesOf(shop);
    const expected: [string, number, number][] = [
      ['aps', 1, 3],
      ['aps', 300, 3],
      ['aps', 450.55, 4.51],
      ['aps', 999_000, 50],
      ['wave', 1, 10],
    ];
    for (const [network, amount, fee] of expected) {
      const quoted = await shop.api.post('/v1/transfers/fees', { amount, network, currency: 'GMD' });
      assert.deepEqual([quoted.status, quoted.body], [200, { fee, currency: 'GMD', network, amount }]);
    }
    assert.deepEqual(await world.tracesOf(shop), before);
    for (const [network, amount, fee] of expected.filter(([, amount]) => amount < 1_000)) {
      const { body } = await send(shop.api, { ...transferBody, network, amount });
      assert.equal(body['fee'], fee);
    }
  });

  it('refuses what a transfer is refused for, naming the same fields', async () => {
    const { api, live } = await world.newShop();
    const quote = (body: object) => api.post('/v1/transfers/fees', body).then(refusal);
    assert.equal(await quote({ network: 'aps' }), '400 invalid_request amount');
    assert.equal(await quote({ amount: '10', network: 'aps' }), '400 invalid_request amount');
    assert.equal(await quote({ amount: 1.005, network: 'aps' }), '400 invalid_request amount');
    assert.equal(await quote({ amount: 0.5, network: 'aps' }), '400 amount_out_of_bounds amount');
    assert.equal(await quote({ amount: 10 }), '400 invalid_request network');
    assert.equal(await quote({ amount: 10, network: 'orange' }), '400 network_not_available network');
    assert.equal(await quote({ amount: 10, network: 'aps', currency: 'XOF' }), '400 currency_not_supported currency');
    assert.equal(await quote({ amount: 10, network: 'aps', fee: 0 }), '400 unknown_field fee');
    const inLive = await live.post('/v1/transfers/fees', { amount: 10, network: 'aps' });
    assert.equal(refusal(inLive), '400 network_not_available network');
  });
});

describe('a transfer', () => {
  it('beyond the balance, with the fee included, is refused to the butut', async () => {
    const shop = await world.newShop();
    await setFeeRule(world.service.db, { merchantId: shop.merchant.id }, rule({ fixedMinor: 1n }));
    const before = await world.tracesOf(shop);
    const refused = await send(shop.api, { ...transferBody, amount: 1_000_000 });
    assert.deepEqual([refused.status, refused.body['code']], [400, 'insufficient_balance']);
    assert.match(String(refused.body['message']), /^Insufficient balance: D0\.01 is missing\. /);
    await world.forgetKeys(shop);
    assert.deepEqual(await world.tracesOf(shop), before);
    await accepted(shop.api, { amount: 999_999.99 });
    assert.equal((await balanceOf(shop.api))['payout_balance'], 0);
    assert.equal((await send(shop.api, { ...transferBody, amount: 1 })).body['code'], 'insufficient_balance');
  });

  it('beyond the limit of one transfer or one day is refused with that limit', async () => {
    const shop = await world.newShop();
    const owner = { merchantId: shop.merchant.id };
    await setLimit(world.service.db, owner, { kind: 'largest', amountMinor: 50_000n });
    await setLimit(world.service.db, owner, { kind: 'daily', amountMinor: 120_000n });
    const before = await world.tracesOf(shop);
    const large = await send(shop.api, { ...transferBody, amount: 500.01 });
    assert.equal(refusal(large), '400 limit_exceeded amount');
    assert.match(String(large.body['message']), /limited to D500\.00 each/);
    await world.forgetKeys(shop);
    assert.deepEqual(await world.tracesOf(shop), before);
    const first = await accepted(shop.api, { amount: 500 });
    await accepted(shop.api, { amount: 500 });
    const late = await send(shop.api, { ...transferBody, amount: 200.01 });
    assert.equal(refusal(late), '400 limit_exceeded amount');
    assert.match(
      String(late.body['message']),
      /limited to D1,200\.00 a day; D1,000\.00 were requested today, so at most D200\.00 are left/,
    );
    await shop.api.post(`/v1/transfers/${first}/cancel`);
    await accepted(shop.api, { amount: 200.01 });
  });
});
