import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { account, bearerSecret, startSimulatedNetworks } from '../../test/harness/simulated-networks.ts';
import type { SimulatedNetworks } from '../../test/harness/simulated-networks.ts';
import { accountCredential } from '../credentials.ts';

let networks: SimulatedNetworks;

before(async () => {
  networks = await startSimulatedNetworks();
});

after(async () => {
  await networks.close();
});

interface WireResponse {
  status: number;
  body: { code?: string; field?: string; id?: string; [name: string]: unknown };
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
    url: `/simulator/networks/${network}/payouts${path}`,
    headers: {
      ...(headers.authorization === null ? {} : { authorization }),
      ...(body === undefined ? {} : { 'content-type': headers.contentType ?? 'application/json' }),
    },
    ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: response.statusCode, body: response.json() };
}

function payoutBody(changes: Record<string, unknown> = {}): Record<string, unknown> {
  const request = networks.payoutRequest('+2207544444');
  return {
    reference: request.reference,
    amount: '100.00',
    currency: 'GMD',
    beneficiary_number: request.beneficiaryNumber,
    beneficiary_number_as_sent: request.beneficiaryNumberAsSent,
    beneficiary_name: request.beneficiaryName,
    description: request.description,
    callback_url: request.callbackUrl,
    ...changes,
  };
}

async function payoutsWritten(reference: unknown): Promise<number> {
  const text = 'SELECT id FROM simulator.payouts WHERE reference = $1';
  return (await networks.db.rows({ name: 'test_payouts', text, values: [reference] })).length;
}

test('a payout request returns the payout in the network’s own format', async () => {
  const body = payoutBody();
  const { status, body: payout } = await call({ body });
  assert.equal(status, 200);
  const received = payout['received'] as Record<string, unknown>;
  assert.match(String(payout.id), /^Shop1234[0-9A-Za-z]{22}$/);
  assert.match(String(received['transaction_id']), /^T[0-9A-Za-z]{22}$/);
  assert.deepEqual(payout, {
    id: payout.id,
    network: 'aps',
    reference: body['reference'],
    status: 'completed',
    amount: '100.00',
    currency: 'GMD',
    received: { amount: '100.00', fee: '0.00', currency: 'GMD', transaction_id: received['transaction_id'] },
    beneficiary_number: '+220877544444',
    beneficiary_name: 'Awa Ceesay',
    failure_code: null,
    created_at: networks.clock.now().toISOString(),
  });
  assert.deepEqual((await call({ path: `/${payout.id}` })).body, payout);
  assert.deepEqual((await call({ path: `?reference=${String(body['reference'])}` })).body, { result: [payout] });
});

test('the same reference with the same request returns the same payout', async () => {
  const body = payoutBody({ amount: '100.5' });
  const first = await call({ body });
  assert.equal(first.status, 200);
  assert.deepEqual(await call({ body }), first);
  const sameMeaning = { ...body, amount: '100.50', beneficiary_number: '+220877544444' };
  assert.deepEqual(await call({ body: sameMeaning }), first);
  assert.equal(await payoutsWritten(body['reference']), 1);
});

test('the same reference with any other field is refused and pays nothing', async () => {
  const body = payoutBody();
  const first = await call({ body });
  const others = {
    amount: '100.01',
    beneficiary_number: '+2207544445',
    beneficiary_name: null,
    description: 'Something else',
    callback_url: 'http://127.0.0.1/elsewhere',
  };
  for (const [field, value] of Object.entries(others)) {
    const response = await call({ body: { ...body, [field]: value } });
    assert.equal(response.status, 409, field);
    assert.equal(response.body.code, 'reference_conflict');
  }
  assert.equal(await payoutsWritten(body['reference']), 1);
  assert.deepEqual(await call({ body }), first);
});

test('ten concurrent requests of one reference create one payout', async () => {
  const body = payoutBody();
  const responses = await Promise.all(Array.from({ length: 10 }, () => call({ body })));
  assert.equal(new Set(responses.map((response) => response.body.id)).size, 1);
  assert.ok(responses.every(({ status }) => status === 200));
  assert.equal(await payoutsWritten(body['reference']), 1);
});

test('ten different concurrent requests of one reference create one payout and nine conflicts', async () => {
  const body = payoutBody();
  const bodies = Array.from({ length: 10 }, (_, index) => ({ ...body, amount: `${100 + index}.00` }));
  const responses = await Promise.all(bodies.map((one) => call({ body: one })));
  assert.deepEqual(responses.map(({ status }) => status).toSorted(), [200, ...Array.from({ length: 9 }, () => 409)]);
  assert.equal(await payoutsWritten(body['reference']), 1);
});

test('a field that is not documented is refused by name', async () => {
  const response = await call({ body: payoutBody({ metadata: {} }) });
  assert.equal(response.status, 400);
  assert.equal(response.body.field, 'metadata');
  assert.match(String(response.body['message']), /metadata/);
});

const refusedFields: [string, unknown][] = [
  ['amount', 100],
  ['amount', '0.00'],
  ['amount', '-1.00'],
  ['amount', '1.005'],
  ['amount', '1e3'],
  ['amount', undefined],
  ['currency', 'XOF'],
  ['beneficiary_number', null],
  ['beneficiary_number', '12'],
  ['beneficiary_number', 7_044_444],
  ['beneficiary_number', undefined],
  ['beneficiary_number_as_sent', null],
  ['beneficiary_name', 5],
  ['beneficiary_name', 'x'.repeat(256)],
  ['reference', 'Shop1234'],
  ['reference', 'Other567reference0000000000009'],
  ['reference', undefined],
  ['description', 'x'.repeat(256)],
  ['callback_url', 'ftp://shop.example/'],
  ['callback_url', 'https://'],
];

const shown = (value: unknown): string => (value === undefined ? 'missing' : JSON.stringify(value).slice(0, 40));

for (const [field, value] of refusedFields) {
  test(`a payout with ${field} ${shown(value)} is refused and creates nothing`, async () => {
    const body = payoutBody({ [field]: value });
    const response = await call({ body });
    assert.equal(response.status, 400);
    assert.equal(response.body.code, 'invalid_request');
    assert.ok(JSON.stringify(response.body).includes(field), 'it names the field');
    assert.equal(await payoutsWritten(body['reference'] ?? ''), 0);
  });
}

test('a body that is not strict JSON, or too large, is refused', async () => {
  assert.equal((await call({ body: '{"reference": "a", "reference": "b"}' })).status, 400);
  assert.equal((await call({ body: 'nonsense' })).status, 400);
  assert.equal((await call({ body: payoutBody(), contentType: 'text/plain' })).status, 415);
  assert.equal((await call({ body: payoutBody({ description: 'x'.repeat(20_000) }) })).status, 413);
});

test('a credential opens its own account at its own network only', async () => {
  const body = payoutBody();
  const path = `/${(await call({ body })).body.id}`;
  const search = `?reference=${String(body['reference'])}`;
  const credential = (holder: { network: string; account: string }): string =>
    `Bearer ${accountCredential(bearerSecret, holder)}`;
  const own = credential({ network: 'aps', account });
  assert.equal((await call({ path, authorization: own })).status, 200);
  for (const authorization of [null, 'Bearer', `${own}0`, credential({ network: 'wave', account })]) {
    assert.equal((await call({ path, authorization })).status, 401, String(authorization));
    assert.equal((await call({ path: search, authorization })).status, 401, String(authorization));
    assert.equal((await call({ body: payoutBody(), authorization })).status, 401, String(authorization));
  }
  const other = credential({ network: 'aps', account: 'Other567' });
  assert.equal((await call({ path, authorization: other })).status, 404);
  assert.deepEqual((await call({ path: search, authorization: other })).body, { result: [] });
  assert.equal((await call({ path, network: 'wave' })).status, 404);
  assert.deepEqual((await call({ path: search, network: 'qmoney' })).body, { result: [] });
  assert.equal((await call({ path: search, network: 'wave' })).status, 404, 'it speaks another wire');
});

test('a refused payout request says that nothing was created', async () => {
  const offline = payoutBody({ beneficiary_number: '+2207540008' });
  const down = await call({ body: offline });
  assert.deepEqual([down.status, down.body.code], [503, 'not_accepted']);
  const emptyFloat = payoutBody({ beneficiary_number: '+2207540010' });
  const empty = await call({ body: emptyFloat });
  assert.deepEqual([empty.status, empty.body.code], [422, 'float_empty']);
  for (const { reference } of [offline, emptyFloat]) assert.equal(await payoutsWritten(reference), 0);
});

test('a payout that moved no money has no transaction id', async () => {
  for (const number of ['+2207540002', '+2207540004', '+2207540009']) {
    const { body } = await call({ body: payoutBody({ beneficiary_number: number }) });
    assert.equal(body['received'], null);
    assert.ok(!JSON.stringify(body).includes('transaction'), number);
  }
});

test('an unknown payout is not found, also for ids that the database cannot store', async () => {
  for (const id of ['Shop1234nothing', 'Shop1234%00', `Shop1234${'%00'.repeat(22)}`, 'Shop1234%F0%9F%98%80']) {
    assert.equal((await call({ path: `/${id}` })).body.code, 'not_found', id);
  }
  assert.equal((await call({ network: 'yonna', body: payoutBody() })).status, 404);
  assert.deepEqual((await call({ path: '?reference=Shop1234nothing0000' })).body, { result: [] });
  assert.equal((await call({ path: '?reference=Shop1234%00' })).status, 400);
  assert.equal((await call({ path: '' })).status, 400);
  const nobody = { number: '7544444', account: 'Shop\u0000234' };
  assert.deepEqual(await networks.simulator.payouts.listArrivals(nobody), []);
  assert.deepEqual(await networks.simulator.payouts.listFloats(nobody), []);
});
