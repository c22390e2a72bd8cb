import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ApiResponse, ApiClient } from '../../../test/harness/api-client.ts';
import { countRows } from '../../../test/harness/tables.ts';
import { change, created, idsOf, refusal, remove, startCustomerApi, type CustomerApi } from './customer-api.corpus.ts';

let world: CustomerApi;

before(async () => {
  world = await startCustomerApi();
});
after(() => world.close());

const unknownId = '01a1f8ac-4b37-7417-9fed-11d78420f713';

/** Fields of a customer that are refused, with the field that is named. */
const refused: [object, string][] = [
  [{ name: '' }, 'name'],
  [{ name: '  \t' }, 'name'],
  [{ name: 'x'.repeat(201) }, 'name'],
  [{ name: null }, 'name'],
  [{ name: 17 }, 'name'],
  ...['', 'awa', 'awa@', '@shop.example', 'awa ceesay@shop.example', `${'x'.repeat(250)}@a.gm`, 17].map(
    (email): [object, string] => [{ email }, 'email'],
  ),
  ...['', '12', '70123456', 'seven', '+220 70123456', '0044 20 7946 0958', '٧٠١٢٣٤٥', '7'.repeat(33), 7_012_345].map(
    (phone): [object, string] => [{ phone }, 'phone'],
  ),
  [{ metadata: 'x' }, 'metadata'],
  [{ metadata: { note: 'x'.repeat(501) } }, 'metadata.note'],
];

describe('POST /v1/customers', () => {
  it('accepts a name alone, and returns the whole record with null for absent fields', async () => {
    const { api } = await world.newShop();
    const { id, ...record } = await created(api, { name: '  Awa "Ŋ" Ceesay 🙂' });
    const now = world.clock.now().toISOString();
    assert.deepEqual(record, {
      name: '  Awa "Ŋ" Ceesay 🙂',
      email: null,
      phone: null,
      metadata: {},
      test_mode: true,
      createdAt: now,
      updatedAt: now,
    });
    assert.deepEqual((await api.get(`/v1/customers/${id}`)).body, { id, ...record });
  });

  it('returns every field exactly as sent, and emits one event', async () => {
    const { api } = await world.newShop();
    const fields = {
      name: 'x'.repeat(200),
      email: 'Awa.Ceesay+Shop@Example.GM',
      phone: '+220 701-2345',
      metadata: { order: 17, since: { year: 2026 } },
    };
    const record = await created(api, fields);
    const { name, email, phone, metadata } = record;
    assert.deepEqual({ name, email, phone, metadata }, fields);
    assert.deepEqual(await world.eventsOf(record.id), [{ what: '1 customer.created', record }]);
    const foreign = await created(api, { phone: '+44 20 7946 0958', email: null, metadata: null });
    assert.deepEqual([foreign['phone'], foreign['email'], foreign['metadata']], ['+44 20 7946 0958', null, {}]);
  });

  it('refuses an invalid name, email, phone or metadata by field, and stores nothing', async () => {
    const { api, merchant } = await world.newShop();
    for (const [fields, path] of refused) {
      const response = await api.post('/v1/customers', { name: 'Awa Ceesay', ...fields });
      assert.equal(refusal(response), `400 invalid_request ${path}`, JSON.stringify(fields));
    }
    for (const body of [{}, { email: 'awa@shop.example' }]) {
      assert.equal(refusal(await api.post('/v1/customers', body)), '400 invalid_request name');
    }
    assert.equal(refusal(await api.post('/v1/customers', { data: { name: 'Awa' } })), '400 unknown_field data');
    const rows = await countRows(world.service, merchant.id, 'customers', 'customer_identities', 'events');
    assert.deepEqual(rows, { customers: 0, customer_identities: 0, events: 0 });
  });

  it('refuses an impossible nine-digit number in live, and accepts it in test', async () => {
    const { api, live } = await world.newShop();
    await created(api, { phone: '869012345' });
    const response = await live.post('/v1/customers', { name: 'Awa', phone: '869012345' });
    assert.equal(refusal(response), '400 invalid_request phone');
    assert.equal((await live.post('/v1/customers', { name: 'Awa', phone: '866012345' })).body['test_mode'], false);
  });
});

describe('GET /v1/customers', () => {
  it('pages newest first, by offset and by cursor, every customer once, without the deleted ones', async () => {
    const { api } = await world.newShop();
    const made: string[] = [];
    for (let time = 1; time <= 13; time += 1) made.unshift((await created(api)).id);
    const [gone = ''] = made.splice(4, 1);
    await remove(api, gone);
    const first = await api.get('/v1/customers');
    assert.deepEqual(first.body['meta'], { total: 12, limit: 10, offset: 0, next_cursor: made[9] });
    assert.deepEqual(await idsOf(api, 'limit=5&offset=5'), made.slice(5, 10));
    assert.deepEqual(await idsOf(api, `limit=100&cursor=${made[9]}`), made.slice(10));
    for (const query of ['limit=0', 'limit=abc', 'offset=-1', 'cursor=x', 'term=%00']) {
      assert.equal(refusal(await api.get(`/v1/customers?${query}`)), `400 invalid_request ${query.split('=')[0]}`);
    }
  });

  it('finds a name, an email and a number in either form, whichever form was stored', async () => {
    const { api } = await world.newShop();
    const old = (await created(api, { name: 'Awa 100%', phone: '701 2345' })).id;
    const late = (await created(api, { name: 'Lamin_Jobe', phone: '+220 87 702 2345', email: 'Lamin@Shop.example' }))
      .id;
    const abroad = (await created(api, { name: 'Fatou', phone: '+44 20 7946 0958' })).id;
    const found: Record<string, string[]> = {
      awa: [old],
      '100%': [old],
      n_J: [late],
      '%': [old],
      'LAMIN@shop': [late],
      '7012345': [old],
      '877012345': [old],
      '+220 87 701 2345': [old],
      '00220 701 2345': [old],
      '2207012345': [old],
      // A few digits of a number, with a space: without one they might stand in an id too.
      '77 01': [old],
      '7022345': [late],
      '702-2345': [late],
      '877022345': [late],
      '002207022345': [late],
      '2 345': [late, old],
      '79 46': [abroad],
      '+44 20 7946 0958': [abroad],
      '442079460958': [abroad],
      '7012346': [],
      nobody: [],
      [old]: [old],
    };
    for (const [term, ids] of Object.entries(found)) {
      assert.deepEqual(await idsOf(api, `term=${encodeURIComponent(term)}`), ids, term);
      assert.deepEqual(await idsOf(api, `search=${encodeURIComponent(term)}`), ids, term);
    }
    assert.equal((await idsOf(api, 'term=')).length, 3, 'nothing to look for is no filter');
    assert.equal((await api.get('/v1/customers?term=2%20345')).text.includes('"total":2'), true);
  });
});

describe('PUT /v1/customers/{id}', () => {
  it('changes only the fields sent, in both forms, and emits an event for each change in order', async () => {
    const { api } = await world.newShop();
    const record = await created(api, { email: 'awa@shop.example', phone: '7012345', metadata: { tier: 'gold' } });
    await world.clock.advance(1_000);
    const changed = { ...record, name: 'Awa Jallow', updatedAt: world.clock.now().toISOString() };
    assert.deepEqual((await change(api, record.id, { name: 'Awa Jallow' })).body, changed);
    const { body: wrapped } = await change(api, record.id, { data: { email: null, metadata: { tier: 1 } } });
    assert.deepEqual(wrapped, { ...changed, email: null, metadata: { tier: 1 } });
    const { body: cleared } = await change(api, record.id, { phone: null, metadata: null, config: { distinct: true } });
    assert.deepEqual(cleared, { ...changed, email: null, phone: null, metadata: {} });
    assert.deepEqual((await api.get(`/v1/customers/${record.id}`)).body, cleared);
    assert.deepEqual(await world.eventsOf(record.id), [
      { what: '1 customer.created', record },
      { what: '2 customer.updated', record: changed },
      { what: '3 customer.updated', record: wrapped },
      { what: '4 customer.updated', record: cleared },
    ]);
  });

  it('with no fields changes nothing and emits no event', async () => {
    const { api } = await world.newShop();
    const record = await created(api);
    await world.clock.advance(1_000);
    for (const body of [{}, { data: {} }, { config: {} }]) {
      assert.deepEqual((await change(api, record.id, body)).body, record);
    }
    assert.equal((await world.eventsOf(record.id)).length, 1);
  });

  it('refuses the same as a creation, by field in the form sent, and changes nothing', async () => {
    const { api } = await world.newShop();
    const record = await created(api, { email: 'awa@shop.example', phone: '7012345' });
    for (const [fields, path] of refused) {
      const bare = await change(api, record.id, fields);
      assert.equal(refusal(bare), `400 invalid_request ${path}`, JSON.stringify(fields));
      const wrapped = await change(api, record.id, { data: fields });
      assert.equal(refusal(wrapped), `400 invalid_request data.${path}`, JSON.stringify(fields));
    }
    assert.deepEqual((await api.get(`/v1/customers/${record.id}`)).body, record);
  });

  it('is found by its current identities, and no longer by earlier ones', async () => {
    const { api } = await world.newShop();
    const { id } = await created(api, { phone: '7012345', email: 'awa@shop.example' });
    await change(api, id, { phone: '6012345' });
    assert.deepEqual([await idsOf(api, 'term=877012345'), await idsOf(api, 'term=866012345')], [[], [id]]);
    await change(api, id, { phone: null, email: null });
    assert.deepEqual([await idsOf(api, 'term=866012345'), await idsOf(api, 'term=shop.example')], [[], []]);
  });
});

describe('a customer', () => {
  it('is not found by another merchant or from the other environment', async () => {
    const [shop, other] = [await world.newShop(), await world.newShop()];
    const record = await created(shop.api, { email: 'awa@shop.example', phone: '7012345' });
    const ways: ((api: ApiClient, id: string) => Promise<ApiResponse>)[] = [
      (api, id) => api.get(`/v1/customers/${id}`),
      (api, id) => change(api, id, { name: 'Somebody else' }),
      (api, id) => api.send('DELETE', `/v1/customers/${id}`),
    ];
    for (const api of [other.api, other.live, shop.live]) {
      for (const way of ways) {
        const [foreign, missing] = [await way(api, record.id), await way(api, unknownId)];
        assert.deepEqual([foreign.status, foreign.body['code']], [404, 'not_found']);
        assert.equal(foreign.body['message'], missing.body['message']);
        assert.equal((await way(api, 'not-an-id')).status, 404);
      }
      for (const query of ['', 'term=awa', 'term=877012345']) assert.deepEqual(await idsOf(api, query), []);
      // Not even to say that somebody has the same number.
      const same = await api.post('/v1/customers', {
        name: 'Fatou',
        email: 'awa@shop.example',
        phone: '7012345',
        config: { distinct: true },
      });
      assert.deepEqual([same.status, same.body['name']], [201, 'Fatou']);
    }
    assert.deepEqual((await shop.api.get(`/v1/customers/${record.id}`)).body, record);
    assert.deepEqual(await idsOf(shop.api, ''), [record.id]);
  });
});
