import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ApiResponse, ApiClient } from '../../../test/harness/api-client.ts';
import { asOwner, countRows, dumpTables } from '../../../test/harness/tables.ts';
import { change, created, idsOf, refusal, remove, startCustomerApi, type CustomerApi } from './customer-api.corpus.ts';

let world: CustomerApi;

before(async () => {
  world = await startCustomerApi();
});
after(() => world.close());

const unknownId = '01a1f8ac-4b37-7417-9fed-11d78420f713';
const awa = { name: 'Awa Ceesay', email: 'awa@shop.example', phone: '701 2345' };

function pay(api: ApiClient, data: object): Promise<ApiResponse> {
  return api.post('/v1/payments', { data: { amount: 10, ...data } });
}

interface Paid {
  intent: Record<string, unknown>;
  charge: Record<string, unknown>;
}

/** A payment with a first attempt from another number, as both are read. */
async function paid(api: ApiClient, data: object): Promise<Paid> {
  const { status, text, body } = await pay(api, { network: 'aps', account_number: '3998877', ...data });
  assert.equal(status, 201, text);
  return read(api, String(body['payment_intent_id']));
}

async function read(api: ApiClient, id: string): Promise<Paid> {
  const [intent, charge] = [await api.get(`/v1/payments/${id}`), await api.get(`/v1/transactions/${id}`)];
  assert.deepEqual([intent.status, charge.status], [200, 200]);
  return { intent: intent.body, charge: charge.body };
}

function payerIn(record: Record<string, unknown>): unknown[] {
  return [record['customer'], record['customer_name'], record['customer_email'], record['customer_phone']];
}

describe('a payment', () => {
  it('that names a customer has its name, email and phone, unless it names its own', async () => {
    const { api } = await world.newShop();
    const { id } = await created(api, awa);
    const plain = await paid(api, { customer: id });
    for (const record of [plain.intent, plain.charge]) {
      assert.deepEqual(payerIn(record), [id, awa.name, awa.email, awa.phone]);
    }
    const own = await paid(api, {
      customer: id.toUpperCase(),
      customer_name: 'Awa’s mother',
      customer_phone: '6012345',
    });
    assert.deepEqual(payerIn(own.charge), [id, 'Awa’s mother', awa.email, '6012345']);
    const nobody = await paid(api, { customer: null, customer_name: 'Somebody' });
    assert.deepEqual(payerIn(nobody.charge), [null, 'Somebody', null, null]);
    const bare = await paid(api, { customer: (await created(api)).id });
    assert.deepEqual(payerIn(bare.charge).slice(1), ['Awa Ceesay', null, null]);
  });

  it('keeps the name it was created with when the customer changes', async () => {
    const { api } = await world.newShop();
    const { id } = await created(api, awa);
    const before = await paid(api, { customer: id });
    await change(api, id, { name: 'Awa Jallow', phone: null });
    assert.deepEqual(await read(api, String(before.intent['payment_intent_id'])), before);
    const later = await paid(api, { customer: id });
    assert.deepEqual(payerIn(later.charge), [id, 'Awa Jallow', awa.email, null]);
  });

  it('is refused for an unknown, deleted or foreign customer, or one of the other environment', async () => {
    const [shop, other] = [await world.newShop(), await world.newShop()];
    const { id } = await created(shop.api, awa);
    const deleted = await created(shop.api);
    await remove(shop.api, deleted.id);
    const refused: [ApiClient, string][] = [
      [other.api, id],
      [shop.live, id],
      ...[deleted.id, unknownId, 'awa', ''].map((of): [ApiClient, string] => [shop.api, of]),
    ];
    for (const [api, customer] of refused) {
      const response = await pay(api, { customer });
      assert.equal(refusal(response), '400 invalid_request data.customer', customer);
      assert.equal(response.body['message'], 'There is no customer with this id in this environment.');
    }
    assert.equal(refusal(await pay(shop.api, { customer: 17 })), '400 invalid_request data.customer');
    const rows = await countRows(world.service, shop.merchant.id, 'payment_intents', 'outbox');
    assert.deepEqual(rows, { payment_intents: 0, outbox: 0 });
  });
});

describe('GET /v1/transactions', () => {
  it('lists the transactions of one customer, with the other filters and after the customer was deleted', async () => {
    const [shop, other] = [await world.newShop(), await world.newShop()];
    const { api } = shop;
    const [first, second] = [(await created(api, awa)).id, (await created(api)).id];
    const made: unknown[] = [];
    for (const customer of [first, second, first, null, first]) {
      const { charge } = await paid(api, { customer });
      if (customer === first) made.unshift(charge['id']);
    }
    const list = async (query: string, by = api) => {
      const response = await by.get(`/v1/transactions?${query}`);
      assert.equal(response.status, 200, response.text);
      const { data, meta } = response.body as { data: { id: string }[]; meta: { total: number } };
      return { ids: data.map(({ id }) => id), total: meta.total };
    };
    assert.deepEqual(await list(`customer=${first}`), { ids: made, total: 3 });
    assert.deepEqual(await list(`customer=${first}&limit=1&offset=1`), { ids: [made[1]], total: 3 });
    assert.deepEqual(await list(`customer=${first}&status=completed`), { ids: [], total: 0 });
    assert.deepEqual(await list(`customer=${first}&status=pending&term=3998877`), { ids: made, total: 3 });
    assert.equal((await list(`customer=${second}`)).total, 1);
    assert.equal((await list('')).total, 5);
    for (const [id, by] of [
      [unknownId, api],
      [first, other.api],
      [first, shop.live],
    ] as const) {
      assert.deepEqual(await list(`customer=${id}`, by), { ids: [], total: 0 });
    }
    assert.equal(refusal(await api.get('/v1/transactions?customer=awa')), '400 invalid_request customer');
    await remove(api, first);
    assert.deepEqual(await list(`customer=${first}`), { ids: made, total: 3 });
  });
});

describe('DELETE /v1/customers/{id}', () => {
  it('makes every later request answer 404, and emits an event with the id alone', async () => {
    const { api, merchant } = await world.newShop();
    const { id } = await created(api, awa);
    await remove(api, id);
    const ways = [
      await api.get(`/v1/customers/${id}`),
      await change(api, id, { name: 'Awa' }),
      await api.send('DELETE', `/v1/customers/${id}`),
    ];
    for (const response of ways) assert.deepEqual([response.status, response.body['code']], [404, 'not_found']);
    for (const term of ['', 'awa', '877012345', id]) assert.deepEqual(await idsOf(api, `term=${term}`), []);
    const events = await world.eventsOf(id);
    assert.deepEqual(events[1], { what: '2 customer.deleted', record: { id } });
    assert.equal(events.length, 2);
    assert.deepEqual(await countRows(world.service, merchant.id, 'customers'), { customers: 1 });
  });

  it('erases the person’s details in past payments, which keep amounts and the customer’s id', async () => {
    const { api } = await world.newShop();
    const { id } = await created(api, { ...awa, metadata: { birthday: '1 May' } });
    const before = [
      await paid(api, { customer: id }),
      await paid(api, { customer: id, customer_name: 'Fatou Ceesay' }),
    ];
    const untouched = await paid(api, { customer: (await created(api, awa)).id });
    const unnamed = await paid(api, { customer_name: awa.name });
    await remove(api, id);
    for (const { intent, charge } of before) {
      const forgotten = { customer_name: null, customer_email: null, customer_phone: null };
      const now = await read(api, String(intent['payment_intent_id']));
      assert.deepEqual(now, { intent: { ...intent, ...forgotten }, charge: { ...charge, ...forgotten } });
    }
    assert.deepEqual(await read(api, String(untouched.intent['payment_intent_id'])), untouched, 'another customer’s');
    assert.deepEqual(await read(api, String(unnamed.intent['payment_intent_id'])), unnamed, 'of nobody by id');
    assert.deepEqual((await api.get('/v1/payments?term=Fatou')).body['data'], []);
  });

  it('leaves no details of the person in any table, nor in earlier events', async () => {
    const { api } = await world.newShop();
    const person = {
      name: 'Kumba Njie Forgotten',
      email: 'Kumba.Forgotten@shop.example',
      phone: '+220 709-8765',
      metadata: { note: 'lives in Bakau' },
    };
    const { id } = await created(api, person);
    await change(api, id, { email: 'other.forgotten@shop.example' });
    await paid(api, { customer: id, customer_email: 'third.forgotten@shop.example' });
    const traces = async () => {
      const marks = [/forgotten/i, /709-?8765/, /Bakau/];
      const tables = [...(await dumpTables(world.service))];
      return tables.filter(([, rows]) => marks.some((mark) => mark.test(rows))).map(([table]) => table);
    };
    const everywhere = ['public.customer_identities', 'public.customers', 'public.events', 'public.payment_intents'];
    assert.deepEqual((await traces()).toSorted(), everywhere);
    await remove(api, id);
    assert.deepEqual(await traces(), []);
  });

  it('erases them in any number of payments', async () => {
    const { api, merchant } = await world.newShop();
    const { id } = await created(api, awa);
    const { intent } = await paid(api, { customer: id });
    // The planner goes on expecting a table of a few rows.
    await asOwner(world.service, 'ANALYZE payment_intents');
    await asOwner(
      world.service,
      `INSERT INTO payment_intents SELECT copied.* FROM payment_intents AS original, generate_series(1, 6000) AS place,
         LATERAL jsonb_populate_record(original, jsonb_build_object('id', '01a00000-0000-7000-8000-' || lpad(place::text, 12, '0'),
           'intent_secret', place::text, 'checkout_token', place::text)) AS copied
       WHERE original.merchant_id = $1 AND original.id = $2`,
      [merchant.id, intent['payment_intent_id']],
    );
    await remove(api, id);
    const [row] = await asOwner<{ all: number; named: number }>(
      world.service,
      `SELECT count(*)::integer AS all, count(COALESCE(customer_name, customer_email, customer_phone))::integer AS named
       FROM payment_intents WHERE merchant_id = $1 AND customer_id = $2`,
      [merchant.id, id],
    );
    assert.deepEqual(row, { all: 6_001, named: 0 });
  });
});
