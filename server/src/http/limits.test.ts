import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { exampleHeaders, exampleOf } from '../../../test/harness/api-examples.ts';
import { createApiClient, type ApiResponse, type ApiClient } from '../../../test/harness/api-client.ts';
import { createContractClient, loadContract, type Contract, type JsonSchema } from '../../../test/harness/openapi.ts';
import { rawHead, sendRaw } from '../../../test/harness/raw-request.ts';
import { startService, type TestBusiness, type TestService } from '../../../test/harness/service.ts';
import { countRows } from '../../../test/harness/tables.ts';

const json = { 'content-type': 'application/json' };

let service: TestService;
let business: TestBusiness;
let contract: Contract;
let api: ApiClient;

before(async () => {
  service = await startService();
  business = await service.onboard();
  contract = await loadContract();
  api = createContractClient(contract, service.url, business.test.key);
});
after(() => service.stop());

function pay(data: object): Promise<ApiResponse> {
  return api.post('/v1/payments', { data: { amount: 10, ...data } });
}

function refusedField(response: ApiResponse): string {
  const [field] = (response.body['errors'] ?? []) as { path: string }[];
  return `${response.status} ${field?.path ?? 'no field'}`;
}

async function countIntents(): Promise<number> {
  return (await countRows(service, business.test.merchant.id, 'payment_intents')).payment_intents;
}

describe('a body', () => {
  const padded = (length: number) => {
    const start = '{"data":{"amount":10}';
    return `${start}${' '.repeat(length - start.length - 1)}}`;
  };

  it('may have 64 kB and not a byte more', async () => {
    const send = (body: string) => api.send('POST', '/v1/payments', { body, headers: json });
    assert.equal((await send(padded(65_536))).status, 201);
    const before = await countIntents();
    const refused = await send(padded(65_537));
    assert.deepEqual([refused.status, refused.body['code']], [413, 'body_too_large']);
    assert.equal(await countIntents(), before);
  });

  it('is refused as soon as it is known to be too large, whatever its Content-Length', async () => {
    const head = (...fields: string[]) =>
      rawHead('POST', '/v1/payments', [
        `Authorization: Bearer ${business.test.key}`,
        'Content-Type: application/json',
        ...fields,
      ]);
    const announced = await sendRaw(service.url, `${head('Content-Length: 10000000000')}{"data"`);
    assert.equal(announced.status, 413, announced.text);
    const chunk = `4000\r\n${' '.repeat(0x4000)}\r\n`;
    const chunked = await sendRaw(service.url, head('Transfer-Encoding: chunked') + chunk.repeat(5));
    assert.equal(chunked.status, 413, chunked.text);
    const plain = head('Content-Length: 70000').replace('application/json', 'text/plain');
    assert.equal((await sendRaw(service.url, plain)).status, 413);
  });
});

describe('metadata', () => {
  const keys = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`key ${index}`, index]));

  it('may have 50 keys of 40 characters, each with 500 characters', async () => {
    const largest = { ...keys(49), ['k'.repeat(40)]: 'v'.repeat(500) };
    const { status, body } = await pay({ metadata: largest });
    assert.equal(status, 201);
    const found = await api.get(`/v1/payments/${String(body['payment_intent_id'])}`);
    assert.deepEqual(found.body['metadata'], largest);
    assert.equal((await pay({ metadata: { nested: { a: ['x'.repeat(490)] } } })).status, 201);
    assert.equal((await pay({ metadata: { ['🌍'.repeat(40)]: '🌍'.repeat(500) } })).status, 201, 'a character is one');
  });

  it('with more is refused, naming the field', async () => {
    assert.equal(refusedField(await pay({ metadata: keys(51) })), '400 data.metadata');
    assert.equal(refusedField(await pay({ metadata: { ['k'.repeat(41)]: 1 } })), '400 data.metadata');
    for (const character of ['v', '🌍'])
      assert.equal(refusedField(await pay({ metadata: { long: character.repeat(501) } })), '400 data.metadata.long');
    assert.equal(refusedField(await pay({ metadata: { deep: { a: ['x'.repeat(495)] } } })), '400 data.metadata.deep');
    for (const metadata of [[], 'text', 5, true])
      assert.equal(refusedField(await pay({ metadata })), '400 data.metadata');
  });
});

describe('a text field', () => {
  const nothing = {
    intentId: '',
    intentSecret: '',
    chargeId: '',
    paidChargeId: '',
    refundId: '',
    transferId: '',
    customerId: '',
    subAccountId: '',
    unusedSubAccountId: '',
    subAccountGroupId: '',
    paymentLinkId: '',
    terminalId: '',
    endpointId: '01a1f8ac-4b37-7417-9fed-11d78420f715',
    eventId: '',
  };

  it('longer than its documented limit is refused by name, in every body', async () => {
    let tried = 0;
    for (const { operationId, method, path, body } of contract.operations) {
      if (body === null) continue;
      const address = path.replace('{id}', business.test.endpointId);
      for (const { way, maxLength } of longestTexts(body)) {
        const example = exampleOf(operationId);
        const text = JSON.stringify(replaced(example.body?.(nothing) ?? {}, way, 'x'.repeat(maxLength + 1)));
        const response = await api.send(method, address, { body: text, headers: exampleHeaders(example) });
        assert.equal(refusedField(response), `400 ${way.join('.')}`, `${operationId}: ${response.text}`);
        tried += 1;
      }
    }
    assert.ok(tried >= 15, `${tried} fields`);
  });

  it('may be as long as its documented limit', async () => {
    const response = await pay({
      title: 't'.repeat(200),
      description: 'd'.repeat(500),
      customer_name: '\u{1f4b0}'.repeat(200),
      customer_phone: '+220 701 2345'.padEnd(32, ' '),
    });
    assert.equal(response.status, 201, response.text);
  });

  it('that is a URL may have 2,048 characters, also if its form is not validated', async () => {
    const urlOf = (length: number) => 'http://127.0.0.1:9/'.padEnd(length, 'u');
    for (const skip of [true, false]) {
      for (const name of ['return_url', 'cancel_url', 'callback_url']) {
        assert.equal((await pay({ [name]: urlOf(2_048), skip_url_validation: skip })).status, 201, name);
        const refused = await pay({ [name]: urlOf(2_049), skip_url_validation: skip });
        assert.equal(refusedField(refused), `400 data.${name}`);
      }
    }
    assert.equal((await api.post('/v1/webhook-endpoints', { url: urlOf(2_048) })).status, 201);
    assert.equal(refusedField(await api.post('/v1/webhook-endpoints', { url: urlOf(2_049) })), '400 url');
  });
});

describe('a request without a body', () => {
  it('is accepted for a POST or DELETE that needs none, whatever its content type', async () => {
    const types: Record<string, string>[] = [
      {},
      json,
      { 'content-type': 'application/json; charset=utf-8' },
      { 'content-type': 'application/x-www-form-urlencoded' },
      { 'content-type': 'text/plain' },
    ];
    for (const headers of types) {
      const { body } = await pay({});
      const intent = `/v1/payments/${String(body['payment_intent_id'])}`;
      assert.equal((await api.send('POST', `${intent}/cancel`, { headers })).status, 200);
      const other = `/v1/payments/${String((await pay({})).body['payment_intent_id'])}`;
      assert.equal((await api.send('PATCH', other, { headers })).status, 200);
      const made = await api.post('/v1/webhook-endpoints', { url: 'http://127.0.0.1:9/' });
      const endpoint = `/v1/webhook-endpoints/${String(made.body['id'])}`;
      assert.equal((await api.send('POST', `${endpoint}/rotate-secret`, { headers })).status, 200);
      assert.equal((await api.send('POST', `${endpoint}/end-overlap`, { headers })).status, 200);
      assert.equal((await api.send('DELETE', endpoint, { headers })).status, 200);
    }
  });

  it('is accepted with empty chunks, and with empty JSON', async () => {
    const cancelled = async (send: (path: string) => Promise<ApiResponse>) =>
      (await send(`/v1/payments/${String((await pay({})).body['payment_intent_id'])}/cancel`)).status;
    const authorization = `Authorization: Bearer ${business.test.key}`;
    for (const more of [
      ['Transfer-Encoding: chunked'],
      ['Transfer-Encoding: chunked', 'Content-Type: application/json'],
    ]) {
      const raw = (path: string) => sendRaw(service.url, `${rawHead('POST', path, [authorization, ...more])}0\r\n\r\n`);
      assert.equal(await cancelled(raw), 200, more.join());
    }
    for (const body of ['{}', 'null', ' {\n}']) {
      assert.equal(await cancelled((path) => api.send('POST', path, { body, headers: json })), 200, body);
    }
  });

  it('is refused if the route needs a body, and a body if it takes none', async () => {
    for (const init of [{}, { headers: json }]) {
      for (const path of ['/v1/payments', '/v1/payments/preview', '/v1/payments/verify', '/v1/webhook-endpoints']) {
        const response = await api.send('POST', path, init);
        assert.deepEqual([response.status, response.body['code']], [400, 'invalid_request'], path);
      }
      assert.equal((await api.send('PUT', `/v1/webhook-endpoints/${business.test.endpointId}`, init)).status, 400);
    }
    const path = `/v1/payments/${String((await pay({})).body['payment_intent_id'])}/cancel`;
    for (const body of ['{"reason":"late"}', '[1]', '"text"', 'false', '0']) {
      const response = await api.send('POST', path, { body, headers: json });
      assert.deepEqual([response.status, response.body['code']], [400, 'unknown_field'], body);
    }
    assert.equal(
      (await api.send('POST', path, { body: 'reason=late', headers: { 'content-type': 'text/plain' } })).status,
      415,
    );
    assert.equal((await api.post(path)).status, 200, 'nothing had been cancelled before');
  });

  it('keeps the connection usable after a refusal', async () => {
    const client = createApiClient(service.url, business.test.key);
    for (let time = 0; time < 20; time += 1) {
      assert.equal((await client.send('POST', '/v1/payments', { body: 'x'.repeat(30_000) })).status, 415);
      assert.equal((await client.get('/v1/payments')).status, 200);
    }
  });
});

interface LongestText {
  way: string[];
  maxLength: number;
}

function longestTexts(schema: JsonSchema, way: string[] = []): LongestText[] {
  const inside = schema.anyOf?.find(({ type }) => type !== 'null') ?? schema;
  if (inside.items) return longestTexts(inside.items, [...way, '0']);
  if (typeof inside['maxLength'] === 'number') return [{ way, maxLength: inside['maxLength'] }];
  return Object.entries(inside.properties ?? {}).flatMap(([name, property]) => longestTexts(property, [...way, name]));
}

/** The body with another value at the end of the path. */
function replaced(body: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  if (name === '0') return [replaced(undefined, rest, value)];
  const fields = (body ?? {}) as Record<string, unknown>;
  return { ...fields, [name]: replaced(fields[name], rest, value) };
}
