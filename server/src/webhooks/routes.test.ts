import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { ApiResponse, ApiClient } from '../../../test/harness/api-client.ts';
import { createContractClient, loadContract, type Contract } from '../../../test/harness/openapi.ts';
import { startService, type TestMerchant, type TestService } from '../../../test/harness/service.ts';

const path = '/v1/webhook-endpoints';
const url = 'http://127.0.0.1:9/events';

let service: TestService;
let contract: Contract;
let merchant: TestMerchant;
let api: ApiClient;

before(async () => {
  service = await startService();
  contract = await loadContract();
});
after(() => service.stop());
beforeEach(async () => {
  merchant = (await service.onboard()).test;
  api = createContractClient(contract, service.url, merchant.key);
});

async function create(fields: object = {}): Promise<Record<string, unknown>> {
  const { status, body, text } = await api.post(path, { url, ...fields });
  assert.equal(status, 201, text);
  return body;
}

function put(id: unknown, body: object): Promise<ApiResponse> {
  return api.send('PUT', `${path}/${String(id)}`, {
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  });
}

async function list(query = ''): Promise<{ ids: unknown[]; meta: Record<string, unknown>; text: string }> {
  const { body, text } = await api.get(`${path}?${query}`);
  const ids = (body['data'] as Record<string, unknown>[]).map(({ id }) => id);
  return { ids, meta: body['meta'] as Record<string, unknown>, text };
}

function refusedField({ status, body }: ApiResponse): string {
  const [field] = (body['errors'] ?? []) as { path: string }[];
  return `${status} ${field?.path ?? 'no field'}`;
}

describe('a webhook endpoint', () => {
  it('shows its secret when it is created and when it is rotated, and never again', async () => {
    const { secret, ...made } = await create({ description: 'Till', enabled_events: ['charge.succeeded'] });
    assert.match(String(secret), /^wh_[0-9A-Za-z+/]{43}=$/);
    const { health: _health, ...read } = (await api.get(`${path}/${String(made['id'])}`)).body;
    assert.deepEqual(read, made);
    const rotated = await api.post(`${path}/${String(made['id'])}/rotate-secret`);
    assert.deepEqual([rotated.status, rotated.body['secret'] === secret], [200, false]);
    const responses = [
      await api.get(`${path}/${String(made['id'])}`),
      await put(made['id'], { description: 'Counter' }),
      await api.post(`${path}/${String(made['id'])}/end-overlap`),
    ];
    for (const text of [...responses.map((response) => response.text), (await list()).text]) {
      assert.ok(!text.includes('wh_') && !text.includes('secret'), text);
    }
  });

  it('changes only in the fields of the request', async () => {
    const { secret: _secret, updatedAt: _updatedAt, ...made } = await create({ description: 'Till' });
    const change = async (fields: object) => {
      const { body } = await put(made['id'], fields);
      const { updatedAt: _then, ...rest } = body;
      return rest;
    };
    assert.deepEqual(await change({}), made);
    assert.deepEqual(await change({ description: 'Counter' }), { ...made, description: 'Counter' });
    const other = 'http://127.0.0.1:9/other';
    assert.deepEqual(await change({ url: other, enabled_events: ['charge.failed'] }), {
      ...made,
      description: 'Counter',
      url: other,
      enabled_events: ['charge.failed'],
    });
    const off = await change({ status: 'disabled', enabled_events: null });
    assert.deepEqual(
      [off['status'], off['disabled_reason'], off['enabled_events']],
      ['disabled', 'manual', made['enabled_events']],
    );
  });

  it('is refused with an invalid URL, event or overlap, naming the field', async () => {
    for (const wrong of [
      'shop.example',
      'ftp://shop.example/',
      'http://a:b@shop.example/',
      'javascript:alert(1)',
      'http://169.254.169.254/',
    ]) {
      const refused = await api.post(path, { url: wrong });
      assert.deepEqual([refusedField(refused), refused.body['code']], ['400 url', 'url_not_allowed'], wrong);
    }
    assert.equal(
      refusedField(await api.post(path, { url, enabled_events: ['charge.nonsense'] })),
      '400 enabled_events.0',
    );
    assert.equal(refusedField(await api.post(path, { url, enabled_events: [] })), '400 enabled_events');
    assert.equal(refusedField(await api.post(path, { url, description: 'd'.repeat(201) })), '400 description');
    assert.equal(refusedField(await put((await list()).ids[0], { description: '🔔'.repeat(201) })), '400 description');
    assert.equal(refusedField(await api.post(path, { description: 'Without' })), '400 url');
    assert.equal(refusedField(await api.post(path, { url: `https://shop.example/${'a'.repeat(3_000)}` })), '400 url');
    const { id } = await create({ description: '🔔'.repeat(200) });
    assert.equal(refusedField(await put(id, { status: 'sleeping' })), '400 status');
    for (const hours of [-1, 169, 1.5, '24']) {
      const refused = await api.post(`${path}/${String(id)}/rotate-secret`, { overlap_hours: hours });
      assert.equal(refusedField(refused), '400 overlap_hours', String(hours));
    }
    for (const hours of [0, 168]) {
      assert.equal((await api.post(`${path}/${String(id)}/rotate-secret`, { overlap_hours: hours })).status, 200);
    }
    assert.equal((await list()).ids.length, 2);
  });

  it('returns 404 once it is deleted, also to a second deletion', async () => {
    const { id } = await create();
    const deleted = await api.send('DELETE', `${path}/${String(id)}`);
    assert.deepEqual([deleted.status, deleted.body], [200, { id, deleted: true }]);
    const gone = [
      await api.get(`${path}/${String(id)}`),
      await put(id, { description: 'Back' }),
      await api.send('DELETE', `${path}/${String(id)}`),
      await api.post(`${path}/${String(id)}/rotate-secret`),
      await api.post(`${path}/${String(id)}/end-overlap`),
    ];
    for (const { status } of gone) assert.equal(status, 404);
    assert.deepEqual((await list()).ids, [merchant.endpointId]);
  });

  it('cannot be deleted if it is the default one, whose secret signs for callback URLs', async () => {
    const refused = await api.send('DELETE', `${path}/${merchant.endpointId}`);
    assert.deepEqual([refused.status, refused.body['code']], [409, 'state_conflict']);
    assert.equal((await put(merchant.endpointId, { url })).body['url'], url);
    assert.equal((await put(merchant.endpointId, { url: null })).body['url'], null);
  });

  it('is one of at most twenty, also with concurrent requests, and pages like every list', async () => {
    const responses = await Promise.all(Array.from({ length: 25 }, () => api.post(path, { url })));
    const created = responses.filter(({ status }) => status === 201).map(({ body }) => body['id']);
    assert.equal(created.length, 19, 'the default one exists from the start');
    assert.ok(responses.every(({ status }) => status === 201 || status === 409));
    const all = await list('limit=100');
    assert.deepEqual(all.ids, [...created, merchant.endpointId].toSorted().toReversed());
    assert.deepEqual(all.meta, { total: 20, limit: 100, offset: 0, next_cursor: null });
    const [first, second] = [await list('limit=12'), await list(`limit=12&cursor=${String(all.ids[11])}`)];
    assert.deepEqual([...first.ids, ...second.ids], all.ids);
    assert.deepEqual([first.meta['next_cursor'], second.meta['next_cursor']], [all.ids[11], null]);
    assert.deepEqual((await list('limit=5&offset=18')).ids, all.ids.slice(18));
  });
});
