import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ApiResponse, ApiClient } from '../../../test/harness/api-client.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createContractClient, loadContract, type Contract } from '../../../test/harness/openapi.ts';
import { startService, type TestService } from '../../../test/harness/service.ts';
import { asOwner, countRows } from '../../../test/harness/tables.ts';

const minuteMs = 60_000;
const clock = new ManualClock();
let database: TestDatabase;
let service: TestService;
let contract: Contract;

before(async () => {
  database = await createTestDatabase();
  // Without a worker: what a list says of time that has passed must not wait for one.
  service = await startService({ clock, database, settings: { ROLE: 'api', DATABASE_URL: database.adminUrl } });
  contract = await loadContract();
});
after(async () => {
  await service.stop();
  await database.drop();
});

async function newMerchant(): Promise<{ api: ApiClient; merchantId: string }> {
  const { test } = await service.onboard();
  return { api: createContractClient(contract, service.url, test.key), merchantId: test.merchant.id };
}

interface Page {
  ids: string[];
  rows: Record<string, unknown>[];
  meta: { total: number; total_is_capped?: boolean; limit: number; offset: number; next_cursor: string | null };
}

async function list(api: ApiClient, query = ''): Promise<Page> {
  const response = await api.get(`/v1/payments?${query}`);
  assert.equal(response.status, 200, response.text);
  const rows = response.body['data'] as Record<string, unknown>[];
  return {
    rows,
    ids: rows.map((row) => String(row['payment_intent_id'])),
    meta: response.body['meta'] as Page['meta'],
  };
}

async function pay(api: ApiClient, data: object = {}): Promise<string> {
  const response = await api.post('/v1/payments', { data: { amount: 10, ...data } });
  assert.equal(response.status, 201, response.text);
  return String(response.body['payment_intent_id']);
}

async function payTimes(api: ApiClient, count: number): Promise<string[]> {
  const made: string[] = [];
  for (let time = 1; time <= count; time += 1) made.unshift(await pay(api, { title: `Order ${time}` }));
  return made;
}

/** Copies of an intent, as many as a shop has after some years. */
async function multiply(merchantId: string, id: string, copies: { from: number; to: number }): Promise<void> {
  await asOwner(
    service,
    `INSERT INTO payment_intents SELECT copied.* FROM payment_intents AS original, generate_series($3::integer, $4) AS place,
       LATERAL jsonb_populate_record(original, jsonb_build_object('id', '01a00000-0000-7000-8000-' || lpad(place::text, 12, '0'),
         'intent_secret', place::text, 'checkout_token', place::text)) AS copied
     WHERE original.merchant_id = $1 AND original.id = $2`,
    [merchantId, id, copies.from, copies.to],
  );
}

describe('GET /v1/payments', () => {
  it('pages newest first, by offset and by cursor, with every payment once', async () => {
    const { api } = await newMerchant();
    const made = await payTimes(api, 25);
    const first = await list(api);
    assert.deepEqual(first.ids, made.slice(0, 10));
    assert.deepEqual(first.meta, { total: 25, limit: 10, offset: 0, next_cursor: made[9] });
    const second = await list(api, 'limit=10&offset=10');
    assert.deepEqual([second.ids, second.meta.offset, second.meta.next_cursor], [made.slice(10, 20), 10, made[19]]);
    const last = await list(api, 'limit=10&offset=20');
    assert.deepEqual([last.ids, last.meta.next_cursor], [made.slice(20), null]);
    assert.deepEqual((await list(api, 'offset=25')).ids, []);
    const walked: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Page = await list(api, `limit=7${cursor === '' ? '' : `&cursor=${cursor}`}`);
      walked.push(...page.ids);
      assert.equal(page.meta.total, 25 + (walked.length > 7 ? 1 : 0));
      // What is new while somebody pages does not push the next page's rows about.
      if (walked.length === 7) await pay(api);
      cursor = page.meta.next_cursor;
    }
    assert.deepEqual(walked, made);
    const exact = await list(api, `limit=5&cursor=${made[19]}`);
    assert.deepEqual([exact.ids, exact.meta.next_cursor], [made.slice(20), null]);
  });

  it('takes a limit of 1 to 100 and an offset of 0 to 10,000, and refuses others by name', async () => {
    const { api } = await newMerchant();
    await payTimes(api, 3);
    for (const query of ['limit=1', 'limit=100', 'offset=0', 'offset=10000']) await list(api, query);
    assert.equal((await list(api, 'limit=1')).ids.length, 1);
    const refused = [
      'limit=0',
      'limit=101',
      'limit=-1',
      'limit=ten',
      'limit=',
      'limit=1.5',
      'limit=1e1',
      'limit=0x1',
      'limit=+5',
    ];
    const more = [
      'limit=1&limit=2',
      'offset=-1',
      'offset=10001',
      'offset=99999999999999999999',
      'cursor=abc',
      'cursor=',
      'offset=1&cursor=01a1f8ac-4b37-7417-9fed-11d78420f713',
      'search=shoes&term=books',
      'status=paid',
    ];
    const times = [
      'from=yesterday',
      ...['from=2026-11-31', 'from=2026-11', 'to=20.11.2026', 'to=2026-11-20T10'],
      'to=2026-02-30T00:00:00Z',
      'to=2016-12-31T23:59:60Z',
      'from=1763632800',
    ];
    for (const query of [...refused, ...more, ...times, 'term=%00', `term=${'x'.repeat(101)}`, 'term=a&term=b']) {
      const response = await api.get(`/v1/payments?${query}`);
      assert.equal(response.status, 400, `${query}: ${response.text}`);
      const [field] = response.body['errors'] as { path: string }[];
      assert.equal(field?.path, query.split('=')[0], query);
    }
    await list(api, 'search=shoes&term=shoes');
    const { body } = await api.get('/v1/payments?status=paid');
    assert.match(String(body['message']), /^status must be requires_payment_method or processing or /);
  });

  it('counts exactly up to 10,000 and then reports that there are more', async () => {
    const { api, merchantId } = await newMerchant();
    const id = await pay(api, { title: 'Copied' });
    await multiply(merchantId, id, { from: 1, to: 9_999 });
    for (const query of ['', 'term=copied', 'status=requires_payment_method']) {
      assert.deepEqual((await list(api, query)).meta.total, 10_000, query);
      assert.equal((await list(api, query)).meta.total_is_capped, undefined, query);
    }
    await multiply(merchantId, id, { from: 10_000, to: 10_000 });
    for (const query of ['', '', 'term=copied', 'status=requires_payment_method']) {
      const { meta } = await list(api, query);
      assert.deepEqual([meta.total, meta.total_is_capped], [10_000, true], query);
    }
    const deep = await list(api, 'limit=5&offset=10000');
    assert.deepEqual([deep.ids, deep.meta.next_cursor], [['01a00000-0000-7000-8000-000000000001'], null]);
    assert.deepEqual((await list(api, 'term=nowhere')).meta.total, 0);
  });

  it('finds a literal term in any field that names the payment or its payer', async () => {
    const { api } = await newMerchant();
    const find = async (term: string) => (await list(api, `term=${encodeURIComponent(term)}`)).ids;
    const books = await pay(api, { title: 'Books 100% off', description: 'Two_of_them', customer_name: 'Awa Ceesay' });
    const shoes = await pay(api, {
      title: 'Shoes \\ socks',
      customer_email: 'Lamin@Shop.example',
      customer_phone: '+220 701 2345',
    });
    assert.deepEqual(await find('100%'), [books]);
    assert.deepEqual(await find('%'), [books]);
    assert.deepEqual(await find('_'), [books]);
    assert.deepEqual(await find('o_o'), [books]);
    assert.deepEqual(await find('\\'), [shoes]);
    assert.deepEqual(await find('%%'), []);
    assert.deepEqual(await find('ooks'), [books]);
    assert.deepEqual(await find('awa CEESAY'), [books]);
    assert.deepEqual(await find('lamin@shop'), [shoes]);
    for (const number of ['701 23', '7012345', '+2207012345', '877012345', '00220 87 701 2345'])
      assert.deepEqual(await find(number), [shoes], number);
    assert.deepEqual(await find(books.slice(-12)), [books]);
    assert.deepEqual(await find("' OR true --"), []);
    assert.deepEqual((await list(api, 'search=awa')).ids, [books]);
    for (const query of ['term=', 'term=%20%20', 'search=', ''])
      assert.deepEqual((await list(api, query)).ids, [shoes, books], query);
    const { meta } = await list(api, 'term=awa');
    assert.deepEqual([meta.total, meta.next_cursor], [1, null]);
  });

  it('filters by the current status, whether or not the sweep has stored it', async () => {
    const { api } = await newMerchant();
    const statuses = ['requires_payment_method', 'processing', 'successful', 'failed', 'cancelled', 'expired'];
    const byStatus = async () => {
      const found = await Promise.all(
        statuses.map(async (status) => [status, (await list(api, `status=${status}`)).ids] as const),
      );
      for (const [status, ids] of found) {
        const { rows } = await list(api);
        const shown = rows.filter((row) => row['status'] === status).map((row) => row['payment_intent_id']);
        assert.deepEqual(ids, shown, `${status} in the filter and in the row`);
      }
      return Object.fromEntries(found.filter(([, ids]) => ids.length > 0));
    };
    const [waiting, tried, dropped, held] = [await pay(api), await pay(api), await pay(api), await pay(api)];
    await api.post(`/v1/payments/${dropped}/cancel`);
    await asOwner(service, "UPDATE payment_intents SET status = 'processing' WHERE id = ANY ($1)", [[tried, held]]);
    await asOwner(service, "UPDATE payment_intents SET review = 'amount_mismatch' WHERE id = $1", [held]);
    assert.deepEqual(await byStatus(), {
      requires_payment_method: [waiting],
      processing: [held, tried],
      cancelled: [dropped],
    });
    await clock.advance(30 * minuteMs - 1);
    assert.deepEqual(Object.keys(await byStatus()), ['requires_payment_method', 'processing', 'cancelled']);
    await clock.advance(1);
    const fresh = await pay(api);
    assert.deepEqual(await byStatus(), {
      requires_payment_method: [fresh],
      // What a person has to look at does not expire meanwhile.
      processing: [held],
      cancelled: [dropped],
      expired: [tried, waiting],
    });
    assert.equal((await api.get(`/v1/payments/${waiting}`)).body['status'], 'expired');
    assert.equal((await api.post(`/v1/payments/${waiting}/cancel`)).status, 409);
    assert.equal((await list(api, 'status=expired')).meta.total, 2);
  });

  it('filters by time, both ends included, in any zone', async () => {
    const { api } = await newMerchant();
    const start = clock.now();
    const made: string[] = [];
    for (let minute = 0; minute < 4; minute += 1) {
      made.unshift(await pay(api));
      await clock.advance(minuteMs);
    }
    const at = (minute: number, ms = 0) => new Date(start.getTime() + minute * minuteMs + ms).toISOString();
    assert.deepEqual((await list(api, `from=${at(2)}`)).ids, made.slice(0, 2));
    assert.deepEqual((await list(api, `from=${at(2, 1)}`)).ids, made.slice(0, 1));
    assert.deepEqual((await list(api, `to=${at(1)}`)).ids, made.slice(2));
    assert.deepEqual((await list(api, `to=${at(1, -1)}`)).ids, made.slice(3));
    assert.deepEqual((await list(api, `from=${at(1)}&to=${at(2)}`)).ids, made.slice(1, 3));
    assert.deepEqual((await list(api, `from=${at(3)}&to=${at(0)}`)).ids, []);
    const zoned = `${new Date(start.getTime() + 2 * minuteMs + 3_600_000).toISOString().slice(0, -1)}%2B01:00`;
    assert.deepEqual((await list(api, `from=${zoned}`)).ids, made.slice(0, 2));
    const narrowed = await list(api, `from=${at(1)}&limit=1&status=requires_payment_method`);
    assert.deepEqual([narrowed.ids, narrowed.meta.total, narrowed.meta.next_cursor], [[made[0]], 3, made[0]]);
  });

  it('never shows the secret of a payment', async () => {
    const { api } = await newMerchant();
    await pay(api);
    assert.ok(!JSON.stringify((await list(api)).rows).includes('secret'));
  });
});

describe('a payment intent', () => {
  it('takes the payer’s number in any usual form, as sent, and refuses what is no number', async () => {
    const { api } = await newMerchant();
    for (const number of ['7012345', '+220 701 2345', '00220-87-701-2345', '+46 70 123 45 67', null]) {
      const { status, body } = await api.post('/v1/payments', { data: { amount: 10, customer_phone: number } });
      assert.equal(status, 201, String(number));
      const found = await api.get(`/v1/payments/${String(body['payment_intent_id'])}`);
      assert.equal(found.body['customer_phone'], number);
    }
    for (const number of ['call me', '12', '+220 12', '701 2345 x', '٧٠١٢٣٤٥']) {
      const { status, body } = await api.post('/v1/payments', { data: { amount: 10, customer_phone: number } });
      const [field] = body['errors'] as { path: string }[];
      assert.deepEqual([status, field?.path], [400, 'data.customer_phone'], number);
    }
  });

  it('is refused with a title of spaces', async () => {
    const { api } = await newMerchant();
    const { status, body } = await api.post('/v1/payments', { data: { amount: 10, title: ' \t ' } });
    assert.deepEqual([status, (body['errors'] as { path: string }[])[0]?.path], [400, 'data.title']);
  });

  it('is split as named inside data or beside it, and refused if the two differ', async () => {
    const { api } = await newMerchant();
    const made: string[] = [];
    for (const name of ['Awa', 'Lamin']) {
      const destination = { settlement_code: 'wave', account_number: '7000001' };
      made.push(String((await api.post('/v1/sub-accounts', { name, percentage: 10, ...destination })).body['id']));
    }
    const [awa, lamin] = made;
    for (const path of ['/v1/payments', '/v1/payments/preview']) {
      const post = (inner: object, outer: object) => api.post(path, { data: { amount: 100, ...inner }, ...outer });
      const same = [
        await post({ sub_account: awa }, {}),
        await post({}, { sub_account: awa }),
        await post({ sub_account: awa }, { sub_account: awa }),
        await post({ sub_account: awa?.toUpperCase() }, { sub_account: awa }),
      ];
      for (const { status, text } of same) assert.ok(status === 200 || status === 201, text);
      for (const name of ['sub_account', 'sub_account_group']) {
        const { status, body } = await post({ [name]: awa }, { [name]: lamin });
        assert.deepEqual([status, (body['errors'] as { path: string }[])[0]?.path], [400, name], path);
      }
    }
    assert.equal((await list(api)).meta.total, 4, 'what was refused, and what was only previewed, is not there');
    const events = (await api.get('/v1/events')).body['data'] as { data: Record<string, unknown> }[];
    assert.deepEqual(
      new Set(events.map(({ data }) => data['sub_account'])),
      new Set([awa]),
      'as the record has its id',
    );
  });

  it('is returned on creation with exactly the documented fields, and its id as id too', async () => {
    const { api } = await newMerchant();
    const { body } = await api.post('/v1/payments', { data: { amount: 450.5, metadata: { order: 17 } } });
    const { payment_intent_id: id, intent_secret: secret, payment_link: link, id: sameId, ...rest } = body;
    assert.equal(sameId, id);
    assert.match(String(id), /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.match(String(secret), /^[0-9a-f]{64}$/);
    assert.ok(String(link).startsWith(`${service.url}/pay/`));
    assert.deepEqual(rest, {
      amount: 450.5,
      transaction_fee: 0,
      transaction_fee_type: 'business',
      currency: 'GMD',
      expires_at: new Date(clock.now().getTime() + 30 * minuteMs).toISOString(),
      status: 'requires_payment_method',
    });
  });

  it('is found by its id and by its secret, in the body or, for older clients, in the query', async () => {
    const { api } = await newMerchant();
    const { body } = await api.post('/v1/payments', { data: { amount: 10, title: 'Found' } });
    const secret = String(body['intent_secret']);
    const found = await api.get(`/v1/payments/${String(body['payment_intent_id'])}`);
    assert.deepEqual([found.body['title'], found.body['id']], ['Found', body['payment_intent_id']]);
    assert.deepEqual((await list(api)).ids, [body['id']]);
    assert.equal((await api.post('/v1/payments/verify', { intent_secret: secret })).text, found.text);
    assert.equal((await api.get(`/v1/payments/verify?intent_secret=${secret}`)).text, found.text);
    const unknown = 'a'.repeat(64);
    assert.equal((await api.post('/v1/payments/verify', { intent_secret: unknown })).status, 404);
    for (const wrong of ['', 'a'.repeat(63), 'A'.repeat(64), `${unknown}\n`, `${unknown} `]) {
      assert.equal((await api.post('/v1/payments/verify', { intent_secret: wrong })).status, 400, wrong);
      const query = `intent_secret=${encodeURIComponent(wrong)}`;
      assert.equal((await api.get(`/v1/payments/verify?${query}`)).status, 400, wrong);
    }
  });

  it('is cancelled once, by POST or by the PATCH of older clients', async () => {
    const { api } = await newMerchant();
    const cancels: ((id: string) => Promise<ApiResponse>)[] = [
      (id) => api.post(`/v1/payments/${id}/cancel`),
      (id) => api.send('PATCH', `/v1/payments/${id}`),
    ];
    for (const cancel of cancels) {
      const id = await pay(api);
      const cancelled = await cancel(id);
      assert.deepEqual([cancelled.status, cancelled.body['status']], [200, 'cancelled']);
      for (const again of cancels) {
        const { status, body } = await again(id);
        assert.deepEqual([status, body['message']], [409, 'This payment has been cancelled already.']);
      }
      const timeline = (await api.get(`/v1/payments/${id}/timeline`)).body['data'] as { kind: string }[];
      assert.deepEqual(
        timeline.map(({ kind }) => kind),
        ['payment_intent.created', 'payment_intent.cancelled'],
      );
    }
  });

  it('costs what its preview returns, which stores nothing', async () => {
    const { api, merchantId } = await newMerchant();
    const tables = ['payment_intents', 'events', 'outbox'] as const;
    const before = await countRows(service, merchantId, ...tables);
    const previewed = await api.post('/v1/payments/preview', { data: { amount: 450.5, currency: 'GMD' } });
    assert.deepEqual(await countRows(service, merchantId, ...tables), before);
    const { body } = await api.post('/v1/payments', { data: { amount: 450.5 } });
    for (const name of ['amount', 'transaction_fee', 'transaction_fee_type', 'currency']) {
      assert.equal(previewed.body[name], body[name], name);
    }
    for (const data of [
      { amount: 0.99 },
      { amount: 1_000_000.01 },
      { amount: 10, currency: 'EUR' },
      { amount: 1.001 },
    ]) {
      const [refused, also] = [
        await api.post('/v1/payments/preview', { data }),
        await api.post('/v1/payments', { data }),
      ];
      assert.deepEqual(
        [refused.status, refused.body['code'], refused.body['message']],
        [400, also.body['code'], also.body['message']],
      );
    }
  });
});
