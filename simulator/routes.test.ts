import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Fastify from 'fastify';
import { eventually } from '../test/harness/eventually.ts';
import { account, bearerSecret, startSimulatedNetworks } from '../test/harness/simulated-networks.ts';
import type { SimulatedNetworks } from '../test/harness/simulated-networks.ts';
import { createServiceLog } from '../server/src/api/service-log.ts';
import { createTestConnectors } from '../server/src/networks/test-connectors.ts';
import { accountCredential } from './credentials.ts';
import { simulatorRoutes } from './routes.ts';

let networks: SimulatedNetworks;

before(async () => {
  networks = await startSimulatedNetworks();
});

after(async () => {
  await networks.close();
});

interface WireResponse {
  status: number;
  body: { code?: string; field?: string; id?: string; status?: string; amount?: string; [name: string]: unknown };
}

interface WireCall {
  network?: string;
  path?: string;
  authorization?: string | null;
  contentType?: string;
  body?: unknown;
}

async function call({ network = 'aps', path = '', body, ...headers }: WireCall): Promise<WireResponse> {
  const authorization = headers.authorization ?? `Bearer ${accountCredential(bearerSecret, { network, account })}`;
  const response = await networks.server.inject({
    method: body === undefined ? 'GET' : 'POST',
    url: `/simulator/networks/${network}/collections${path}`,
    headers: {
      ...(headers.authorization === null ? {} : { authorization }),
      ...(body === undefined ? {} : { 'content-type': headers.contentType ?? 'application/json' }),
    },
    ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: response.statusCode, body: response.json() };
}

function startBody(changes: Record<string, unknown> = {}): Record<string, unknown> {
  const request = networks.request('+2207044444');
  return {
    reference: request.reference,
    amount: '100.00',
    currency: 'GMD',
    payer_number: request.payerNumber,
    payer_number_as_sent: null,
    description: request.description,
    expires_at: request.expiresAt.toISOString(),
    return_url: request.returnUrl,
    callback_url: request.callbackUrl,
    ...changes,
  };
}

test('the same reference with the same request returns the same session', async () => {
  const body = startBody({ amount: '100.5' });
  const first = await call({ body });
  assert.equal(first.status, 200);
  assert.equal(first.body.amount, '100.50');
  assert.deepEqual(await call({ body }), first);
  assert.deepEqual(await call({ body: { ...body, amount: '100.50' } }), first);
});

test('the same reference with another request is refused, whatever differs', async () => {
  const body = startBody();
  assert.equal((await call({ body })).status, 200);
  const others = {
    amount: '100.01',
    payer_number: '+2207044445',
    description: 'Something else',
    expires_at: '2026-12-24T00:00:00.000Z',
    return_url: 'https://shop.example/elsewhere',
    callback_url: 'http://127.0.0.1/elsewhere',
  };
  for (const [field, value] of Object.entries(others)) {
    const response = await call({ body: { ...body, [field]: value } });
    assert.equal(response.status, 409, field);
    assert.equal(response.body.code, 'reference_conflict');
  }
});

test('ten concurrent starts of one reference create one session', async () => {
  const body = startBody({ payer_number: '+2207040001' });
  const responses = await Promise.all(Array.from({ length: 10 }, () => call({ body })));
  assert.equal(new Set(responses.map((response) => response.body.id)).size, 1);
  assert.ok(responses.every(({ status }) => status === 200));
  const found = await call({ path: `?reference=${String(body['reference'])}` });
  assert.equal((found.body['result'] as unknown[]).length, 1);
});

test('fields that are not documented are refused by name', async () => {
  const extra = await call({ body: startBody({ metadata: {} }) });
  assert.equal(extra.status, 400);
  assert.equal(extra.body.code, 'invalid_request');
  assert.match(String(extra.body['message']), /metadata/);
  const opened = await call({ body: startBody() });
  for (const step of ['confirm', 'cancel']) {
    assert.equal((await call({ path: `/${opened.body.id}/${step}`, body: { reason: 'none' } })).status, 400);
  }
  assert.equal((await call({ path: `/${opened.body.id}/code`, body: { code: '123456', more: 1 } })).status, 400);
});

const refusedFields: [string, unknown][] = [
  ['amount', 100],
  ['amount', '0'],
  ['amount', '0.00'],
  ['amount', '-1.00'],
  ['amount', '1.005'],
  ['amount', '01.00'],
  ['amount', '1e3'],
  ['amount', ''],
  ['currency', 'XOF'],
  ['payer_number', null],
  ['payer_number', '12'],
  ['payer_number', 7_044_444],
  ['reference', 'Shop1234'],
  ['reference', 'Other567reference0000000000009'],
  ['description', 'x'.repeat(256)],
  ['expires_at', 'tomorrow'],
  ['expires_at', '2026-13-40T00:00:00.000Z'],
  ['callback_url', 'ftp://shop.example/'],
  ['callback_url', 'https://'],
];

for (const [field, value] of refusedFields) {
  test(`a start with ${field} ${JSON.stringify(value).slice(0, 40)} is refused and creates nothing`, async () => {
    const body = startBody({ [field]: value });
    const response = await call({ body });
    assert.equal(response.status, 400);
    assert.equal(response.body.code, 'invalid_request');
    const text = 'SELECT id FROM simulator.sessions WHERE reference = $1';
    const values = [body['reference']];
    assert.deepEqual(await networks.db.rows({ name: 'test_session', text, values }), []);
  });
}

test('a body that is not strict JSON, or too large, is refused', async () => {
  assert.equal((await call({ body: '{"reference": "a", "reference": "b"}' })).status, 400);
  assert.equal((await call({ body: 'nonsense' })).status, 400);
  assert.equal((await call({ body: startBody(), contentType: 'text/plain' })).status, 415);
  assert.equal((await call({ body: startBody({ description: 'x'.repeat(20_000) }) })).status, 413);
});

test('a credential opens its own account at its own network only', async () => {
  const started = await call({ body: startBody() });
  const path = `/${started.body.id}`;
  const credential = (holder: { network: string; account: string }): string =>
    `Bearer ${accountCredential(bearerSecret, holder)}`;
  const own = credential({ network: 'aps', account });
  assert.equal((await call({ path, authorization: own })).status, 200);
  const bad = [null, 'Bearer', 'Bearer sim_Shop1234_', `${own}0`, own.replace('Bearer', 'Basic')];
  for (const authorization of [...bad, credential({ network: 'wave', account })]) {
    assert.equal((await call({ path, authorization })).status, 401, String(authorization));
    assert.equal((await call({ body: startBody(), authorization })).status, 401, String(authorization));
  }
  const other = credential({ network: 'aps', account: 'Other567' });
  assert.equal((await call({ path, authorization: other })).status, 404);
  assert.equal((await call({ path: `${path}/cancel`, body: {}, authorization: other })).status, 404);
  assert.equal((await call({ path, network: 'wave' })).status, 404);
  assert.equal((await call({ path: `${path}/cancel`, body: {}, network: 'wave' })).status, 404);
  assert.equal((await call({ path })).body.status, 'open');
});

test('an unknown network or session is not found', async () => {
  assert.equal((await call({ path: '/Shop1234nothing' })).body.code, 'not_found');
  assert.equal((await call({ path: '/Shop1234nothing/confirm', body: {} })).body.code, 'not_found');
  assert.equal((await call({ network: 'yonna' })).status, 404);
  assert.deepEqual((await call({ path: '?reference=Shop1234nothing0000' })).body['result'], []);
  assert.equal((await call({ path: '' })).status, 400);
});

test('ids that the database cannot store answer 404, not 500', async () => {
  for (const hostile of ['Shop1234%00', `Shop1234${'%00'.repeat(22)}`, 'Shop1234%F0%9F%98%80', '%20'.repeat(30)]) {
    assert.equal((await call({ path: `/${hostile}` })).status, 404, hostile);
    assert.equal((await call({ path: `/${hostile}/cancel`, body: {} })).status, 404, hostile);
    assert.equal((await call({ path: `?reference=${hostile}` })).status, 400, hostile);
    assert.equal(await networks.simulator.findPrompt(decodeURIComponent(hostile)), undefined);
    assert.deepEqual(
      await networks.simulator.listPrompts({ number: '7044444', account: decodeURIComponent(hostile) }),
      [],
    );
  }
});

test('a code for a session that expects none is refused', async () => {
  const started = await call({ body: startBody() });
  const response = await call({ path: `/${started.body.id}/code`, body: { code: '123456' } });
  assert.equal(response.status, 409);
  assert.equal(response.body.code, 'no_code_expected');
});

test('the response to an unpaid start has no transaction id', async () => {
  const started = await call({ body: startBody() });
  assert.equal(started.body['paid'], null);
  assert.ok(!JSON.stringify(started.body).includes('transaction'));
  const coded = await call({ network: 'qmoney', body: startBody() });
  const prompt = await networks.simulator.findPrompt(coded.body.id ?? '');
  assert.ok(prompt?.code);
  assert.ok(!JSON.stringify(coded.body).includes(prompt.code), 'the code goes to the phone only');
});

test('a server with a held request closes, and the caller learns nothing', async () => {
  const server = Fastify();
  const { simulator, clock } = networks;
  let baseUrl = '';
  const log = createServiceLog({ level: 'error' });
  await server.register(simulatorRoutes({ ...networks.routesOptions, simulator, publicUrl: () => baseUrl, log }));
  baseUrl = await server.listen({ host: '127.0.0.1', port: 0 });
  const [wave] = createTestConnectors({ baseUrl: () => baseUrl, bearerSecret, callbackSecret: 'secret', clock });
  assert.ok(wave?.collections);
  const request = networks.request('+2207040006');
  const response = wave.collections.start(request);
  await networks.untilStored(request);
  await server.close();
  assert.equal((await response).state, 'unknown');
  await wave.close();
});

test('a caller that gives up frees its connection', async () => {
  const server = Fastify();
  const { simulator, clock } = networks;
  let baseUrl = '';
  const log = createServiceLog({ level: 'error' });
  await server.register(simulatorRoutes({ ...networks.routesOptions, simulator, publicUrl: () => baseUrl, log }));
  baseUrl = await server.listen({ host: '127.0.0.1', port: 0 });
  const connections = (): Promise<number> => {
    const { promise, resolve } = Promise.withResolvers<number>();
    server.server.getConnections((_error, count) => resolve(count));
    return promise;
  };
  const connectors = createTestConnectors({
    baseUrl: () => baseUrl,
    bearerSecret,
    callbackSecret: 'secret',
    clock,
  });
  const [wave] = connectors;
  assert.ok(wave?.collections);
  const request = networks.request('+2207040005');
  const response = wave.collections.start(request);
  await networks.untilStored(request);
  assert.equal(await connections(), 1);
  await clock.advance(3_000);
  assert.equal((await response).state, 'unknown');
  await eventually('the connection is gone', async () => (await connections()) === 0);
  await server.close();
  await Promise.all(connectors.map((connector) => connector.close()));
});
