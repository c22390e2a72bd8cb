import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { effort } from '../../../test/harness/effort.ts';
import type { ApiResponse, ApiClient } from '../../../test/harness/api-client.ts';
import { countRows } from '../../../test/harness/tables.ts';
import { change, created, refusal, remove, startCustomerApi, type CustomerApi } from './customer-api.corpus.ts';

let world: CustomerApi;

before(async () => {
  world = await startCustomerApi();
});
after(() => world.close());

function distinct(api: ApiClient, fields: object, headers: Record<string, string> = {}): Promise<ApiResponse> {
  return api.post('/v1/customers', { name: 'Somebody', ...fields, config: { distinct: true } }, headers);
}

describe('config.distinct', () => {
  it('returns the existing customer of the email or phone with 200, and emits no event', async () => {
    const { api, merchant } = await world.newShop();
    const awa = await created(api, { email: 'Awa@Shop.example', phone: '701 2345' });
    const same = [
      { email: 'awa@shop.EXAMPLE' },
      { email: 'awa@shop.example', phone: '9012345', metadata: { tier: 'gold' } },
      ...['7012345', '877012345', '+220 701 2345', '00220 87 701 2345'].map((phone) => ({ phone })),
      { email: 'somebody.else@shop.example', phone: '877012345' },
    ];
    for (const fields of same) {
      const response = await distinct(api, fields);
      assert.deepEqual([response.status, response.body], [200, awa], JSON.stringify(fields));
    }
    assert.deepEqual(await countRows(world.service, merchant.id, 'customers', 'events'), { customers: 1, events: 1 });
  });

  it('matches a number in its seven-digit and its nine-digit form', async () => {
    const forms = [
      ['7012345', '877012345'],
      ['3012345', '833012345'],
      ['6012345', '866012345'],
      // A number that may be fixed or moved is its own line, and also the old form of the new one.
      ['5512345', '835512345'],
    ] as const;
    for (const [old, late] of forms) {
      for (const [first, second] of [
        [old, late],
        [late, old],
      ] as const) {
        const { api } = await world.newShop();
        const stored = await created(api, { phone: first });
        const response = await distinct(api, { phone: second });
        assert.deepEqual([response.status, response.body['id']], [200, stored.id], `${first}, then ${second}`);
      }
    }
  });

  it('creates another one where email and phone differ or are absent', async () => {
    const { api } = await world.newShop();
    const awa = await created(api, { email: 'awa@shop.example', phone: '7012345' });
    for (const fields of [{ email: 'awa@shop.example.gm', phone: '7012346' }, { phone: '+44 20 7946 0958' }, {}, {}]) {
      const response = await distinct(api, { ...fields, name: 'Awa Ceesay' });
      assert.equal(response.status, 201, response.text);
      assert.notEqual(response.body['id'], awa.id);
    }
    for (const config of [{}, { distinct: false }, { distinct: null }, { other: 1 }, null]) {
      const another = await api.post('/v1/customers', { name: 'Awa', email: 'awa@shop.example', config });
      assert.equal(another.status, 201, another.text);
    }
    const slip = await api.post('/v1/customers', { name: 'Awa', config: { distinct: 'true' } });
    assert.equal(refusal(slip), '400 invalid_request config.distinct');
  });

  it('returns the oldest of several, and none that was changed or deleted since', async () => {
    const { api } = await world.newShop();
    const [first, second] = [await created(api, { phone: '7012345' }), await created(api, { phone: '877012345' })];
    assert.equal((await distinct(api, { phone: '7012345' })).body['id'], first.id);
    await change(api, first.id, { phone: '6012345' });
    assert.equal((await distinct(api, { phone: '7012345' })).body['id'], second.id);
    await remove(api, second.id);
    const response = await distinct(api, { phone: '7012345' });
    assert.equal(response.status, 201, response.text);
    assert.ok(![first.id, second.id].includes(String(response.body['id'])));
  });

  it('creates one customer for concurrent requests, whatever form each number has', async () => {
    const forms = [
      { phone: '7012345' },
      { phone: '877012345' },
      { email: 'awa@shop.example', phone: '+2207012345' },
      { email: 'AWA@shop.example', phone: '+220 877012345' },
    ];
    for (let round = 1; round <= effort({ usual: 4, long: 20 }); round += 1) {
      const { api, merchant } = await world.newShop();
      const responses = await Promise.all(
        Array.from({ length: 12 }, (_, index) => distinct(api, forms[index % forms.length] ?? {})),
      );
      assert.equal(new Set(responses.map(({ body }) => body['id'])).size, 1);
      assert.deepEqual(responses.map(({ status }) => status).toSorted(), [...Array<number>(11).fill(200), 201]);
      assert.deepEqual(await countRows(world.service, merchant.id, 'customers', 'events'), { customers: 1, events: 1 });
    }
  });

  it('replays a repeated request byte for byte, also where nothing was created', async () => {
    const { api } = await world.newShop();
    await created(api, { phone: '7012345' });
    const headers = { 'idempotency-key': randomUUID() };
    const [first, again] = [
      await distinct(api, { phone: '877012345' }, headers),
      await distinct(api, { phone: '877012345' }, headers),
    ];
    assert.deepEqual([first.status, again.status, again.text], [200, 200, first.text]);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
  });
});
