import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import {
  account,
  bearerSecret,
  callbackSecret,
  startSimulatedNetworks,
  type SimulatedNetworks,
} from '../../test/harness/simulated-networks.ts';
import { accountCredential, callbackSigningSecret, requestSigningSecret } from '../credentials.ts';

// What the simulated Wave takes and refuses, and how the scenarios look on Wave's wire; the connector is not involved.

type Body = Record<string, unknown>;

let networks: SimulatedNetworks;

before(async () => {
  networks = await startSimulatedNetworks();
});

after(() => networks.close());

interface Call {
  method?: 'GET' | 'POST';
  body?: unknown;
  raw?: string;
  holder?: string;
  headers?: Record<string, string | null>;
  /** Between the time and the body of the signature. */
  separator?: string;
  ageSeconds?: number;
}

async function call(path: string, options: Call = {}): Promise<{ status: number; body: Body }> {
  const { body, holder = account, headers = {}, separator = '', ageSeconds = 0 } = options;
  const raw = options.raw ?? (body === undefined ? '' : JSON.stringify(body));
  const owner = { network: 'wave', account: holder };
  const seconds = Math.floor(networks.clock.now().getTime() / 1_000) - ageSeconds;
  const mac = createHmac('sha256', requestSigningSecret(bearerSecret, owner)).update(`${seconds}${separator}${raw}`);
  const sent: Record<string, string | null> = {
    authorization: `Bearer ${accountCredential(bearerSecret, owner)}`,
    'wave-signature': `t=${seconds},v1=${mac.digest('hex')}`,
    ...(raw === '' ? {} : { 'content-type': 'application/json' }),
    ...headers,
  };
  const response = await fetch(`${networks.baseUrl}/simulator/networks/wave${path}`, {
    method: options.method ?? (raw === '' ? 'GET' : 'POST'),
    headers: Object.fromEntries(Object.entries(sent).filter((entry): entry is [string, string] => entry[1] !== null)),
    ...(raw === '' ? {} : { body: raw }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Body) };
}

let references = 0;
const newReference = () => `${account}wave${String(++references).padStart(18, '0')}`;

const sessionBody = (changes: Body = {}): Body => ({
  ...{ amount: '100', currency: 'GMD', client_reference: newReference() },
  ...{ success_url: 'https://shop.example/paid', error_url: 'https://shop.example/failed', ...changes },
});
const payoutBody = (key: string, changes: Body = {}): Body => ({
  ...{ currency: 'GMD', receive_amount: '100', mobile: '+220877510001', client_reference: key, ...changes },
});
const sessionsPath = '/v1/checkout/sessions';
const create = (number?: string, changes: Body = {}) =>
  call(sessionsPath, {
    body: sessionBody({ ...(number === undefined ? {} : { restrict_payer_mobile: number }), ...changes }),
  });
const payOut = (number: string, key = newReference(), changes: Body = {}) =>
  call('/v1/payout', { body: payoutBody(key, { mobile: number, ...changes }), headers: { 'idempotency-key': key } });

/** What was wrong with which field. */
function refusal({ status, body }: { status: number; body: Body }): unknown[] {
  const [detail] = (body['details'] ?? []) as { loc: string[] }[];
  return [status, body['code'], ...(detail ? [detail.loc.at(-1)] : [])];
}

test('a session has the fields that Wave documents, and can be found in three ways', async () => {
  const { status, body } = await create();
  assert.equal(status, 200);
  const { id, client_reference: reference, wave_launch_url: url, ...rest } = body;
  assert.match(String(id), /^cos-/);
  assert.equal(url, `${networks.baseUrl}/simulator/wave/${String(id)}`);
  assert.deepEqual(rest, {
    ...{ amount: '100', currency: 'GMD', business_name: 'Kairaba Bookshop', aggregated_merchant_id: null },
    ...{ checkout_status: 'open', payment_status: 'processing', transaction_id: null, last_payment_error: null },
    ...{
      restrict_payer_mobile: null,
      success_url: 'https://shop.example/paid',
      error_url: 'https://shop.example/paid',
    },
    when_created: `${networks.clock.now().toISOString().slice(0, 19)}Z`,
    when_expires: new Date(networks.clock.now().getTime() + 30 * 60_000).toISOString().replace('.000Z', 'Z'),
    when_completed: null,
  });
  assert.deepEqual((await call(`${sessionsPath}/${String(id)}`)).body, body);
  assert.deepEqual((await call(`${sessionsPath}/search?client_reference=${String(reference)}`)).body, {
    result: [body],
  });
  const paid = (await create('+220877000001')).body;
  const found = await call(`${sessionsPath}?transaction_id=${String(paid['transaction_id'])}`);
  assert.deepEqual([paid['payment_status'], found.body], ['succeeded', paid]);
});

test('a request is refused for each field that Wave does not know or that breaks a rule', async () => {
  for (const [changes, field] of [
    [{ metadata: {} }, 'metadata'],
    [{ description: 'Rice' }, 'description'],
    [{ amount: 100 }, 'amount'],
    [{ amount: '0100' }, 'amount'],
    [{ amount: '1.005' }, 'amount'],
    [{ amount: '0' }, 'amount'],
    [{ currency: 'XOF' }, 'currency'],
    [{ success_url: 'http://shop.example/paid' }, 'success_url'],
    [{ error_url: 'shop://failed' }, 'error_url'],
    [{ error_url: undefined }, 'error_url'],
    [{ client_reference: 'x'.repeat(256) }, 'client_reference'],
    [{ restrict_payer_mobile: '7000001' }, 'restrict_payer_mobile'],
    [{ restrict_payer_mobile: '2207000001' }, 'restrict_payer_mobile'],
  ] as const) {
    const response = await call(sessionsPath, { body: sessionBody(changes) });
    assert.deepEqual(refusal(response), [422, 'request-validation-error', field], JSON.stringify(changes));
  }
  assert.deepEqual(refusal(await call(sessionsPath, { raw: '{"amount"' })), [400, 'request-not-json']);
  assert.deepEqual(refusal(await call(sessionsPath, { raw: '{"amount":"1","amount":"2"}' })), [
    400,
    'request-not-json',
  ]);
  assert.deepEqual(refusal(await call('/v1/nothing')), [404, 'not-found']);
});

test('a request without a valid key or signature is refused, also a GET', async () => {
  const path = `${sessionsPath}/search?client_reference=${newReference()}`;
  const cases: [Call, string][] = [
    [{ headers: { authorization: null } }, 'missing-auth-header'],
    [{ headers: { authorization: 'Basic x' } }, 'invalid-auth'],
    [{ headers: { authorization: `Bearer sim_${account}_${'0'.repeat(64)}` } }, 'no-matching-api-key'],
    [{ headers: { 'wave-signature': null } }, 'invalid-auth'],
    [{ separator: '.' }, 'invalid-auth'],
    [{ ageSeconds: 301 }, 'invalid-auth'],
    [{ ageSeconds: -301 }, 'invalid-auth'],
  ];
  for (const [options, code] of cases) {
    assert.deepEqual(refusal(await call(path, options)), [401, code], JSON.stringify(options));
    assert.deepEqual(refusal(await call(sessionsPath, { ...options, body: sessionBody() })), [401, code]);
  }
  const { body } = await create();
  const other = await call(`${sessionsPath}/${String(body['id'])}`, { holder: 'Other567' });
  assert.deepEqual(refusal(other), [404, 'checkout-session-not-found'], 'a wallet sees its own sessions');
});

test('a failed attempt of the simulated payer ends the session, with Wave’s reason where it has one', async () => {
  for (const [number, error] of [
    ['+220877000002', null],
    ['+220877000003', 'insufficient-funds'],
  ] as const) {
    const { body } = await create(number);
    assert.deepEqual([body['checkout_status'], body['payment_status']], ['expired', 'cancelled']);
    assert.equal((body['last_payment_error'] as Body | null)?.['code'] ?? null, error);
    assert.equal(body['transaction_id'], null);
  }
  assert.deepEqual(refusal(await create('+220877000008')), [503, 'service-unavailable']);
  const more = (await create('+220877000010')).body;
  assert.equal(more['amount'], '101', 'another amount than requested');
});

test('a session is expired once, and a late payer still pays', async () => {
  const { body } = await create('+220877000011');
  const path = `${sessionsPath}/${String(body['id'])}`;
  const expire = () => call(`${path}/expire`, { method: 'POST' });
  assert.deepEqual(await expire(), { status: 200, body: {} });
  assert.deepEqual(refusal(await expire()), [409, 'checkout-session-not-open']);
  assert.equal((await call(path)).body['checkout_status'], 'expired');
  await networks.clock.advance(2_000);
  assert.equal((await call(path)).body['payment_status'], 'succeeded');
  assert.deepEqual(refusal(await expire()), [409, 'checkout-session-not-open']);
  const missing = await call(`${sessionsPath}/cos-nothing/expire`, { method: 'POST' });
  assert.deepEqual(refusal(missing), [404, 'checkout-session-not-found']);
});

test('webhooks are signed as documented, say of an older attempt that it failed, and of no payout', async () => {
  networks.receiver.received.length = 0;
  while ((await networks.sender.sendDueCallbacks()) > 0);
  networks.receiver.received.length = 0;
  await create('+220877000007');
  await payOut('+220877510007');
  await networks.clock.advance(2_000);
  while ((await networks.sender.sendDueCallbacks()) > 0);
  const events = networks.receiver.received.map(({ body, headers }) => {
    const [, seconds, signature] = /^t=(\d+),v1=(.*)$/.exec(String(headers['wave-signature'])) ?? [];
    const secret = callbackSigningSecret(callbackSecret, 'wave');
    const expected = createHmac('sha256', secret).update(`${seconds}${body.toString()}`).digest('hex');
    assert.equal(signature, expected);
    return JSON.parse(body.toString()) as { id: string; type: string; data: Body };
  });
  assert.deepEqual(
    events.map(({ type, data }) => [type, data['checkout_status']]),
    [
      ['checkout.session.completed', 'complete'],
      ['checkout.session.payment_failed', 'open'],
      ['checkout.session.completed', 'complete'],
      ['checkout.session.completed', 'complete'],
    ],
  );
  const ids = new Set(events.filter(({ type }) => type.endsWith('completed')).map(({ id }) => id));
  assert.ok(ids.size === 1 && [...ids][0]?.startsWith('EV_'));
});

test('a payout needs a key, which pays once and for one request only', async () => {
  const key = newReference();
  const sent = await payOut('+220877510001', key);
  const { id, timestamp, ...rest } = sent.body;
  assert.match(String(id), /^pt-/);
  assert.match(String(timestamp), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.deepEqual(rest, {
    ...{ currency: 'GMD', receive_amount: '100', fee: '0', mobile: '+220877510001', name: null, payment_reason: '' },
    ...{ client_reference: key, aggregated_merchant_id: null, status: 'succeeded', payout_error: null },
  });
  assert.deepEqual((await payOut('+220877510001', key)).body, sent.body);
  assert.deepEqual(refusal(await payOut('+220877510001', key, { receive_amount: '200' })), [
    409,
    'idempotency-mismatch',
  ]);
  assert.deepEqual((await call(`/v1/payout/${String(id)}`)).body, sent.body);
  assert.deepEqual((await call(`/v1/payouts/search?client_reference=${key}`)).body, { result: [sent.body] });
  assert.deepEqual(refusal(await call('/v1/payout', { body: payoutBody(key) })), [400, 'request-validation-error']);
  for (const [changes, field] of [
    [{ metadata: {} }, 'metadata'],
    [{ receive_amount: 100 }, 'receive_amount'],
    [{ mobile: '7510001' }, 'mobile'],
    [{ payment_reason: 'x'.repeat(41) }, 'payment_reason'],
  ] as const) {
    assert.deepEqual(refusal(await payOut('+220877510001', newReference(), changes)).at(-1), field);
  }
});

test('payouts are refused with Wave’s codes, at once or when they are looked up', async () => {
  for (const [number, expected] of [
    ['+220877510002', [422, 'recipient-account-inactive']],
    ['+220877510003', [422, 'recipient-account-blocked']],
    ['+220877510008', [503, 'service-unavailable']],
    ['+220877510010', [422, 'insufficient-funds']],
  ] as const) {
    const key = newReference();
    assert.deepEqual(refusal(await payOut(number, key)), expected);
    const [found] = (await call(`/v1/payouts/search?client_reference=${key}`)).body['result'] as Body[];
    const isStored = expected[1].startsWith('recipient');
    assert.equal(found?.['status'], isStored ? 'failed' : undefined);
    if (isStored) assert.equal((found?.['payout_error'] as Body | undefined)?.['error_code'], expected[1]);
  }
  assert.equal((await payOut('+220877510009')).body['status'], 'processing');
});

const batchOf = (items: readonly Body[]) => ({ payouts: items });
const payOutBatch = (items: readonly Body[], key = newReference()) =>
  call('/v1/payout-batch', { body: batchOf(items), headers: { 'idempotency-key': key } });

test('a batch is taken whole or not at all, pays once for its key, and is read with each of its payouts', async () => {
  const references = [newReference(), newReference(), newReference()];
  const items = ['+220877510001', '+220877510002', '+220877510010'].map((mobile, index) =>
    payoutBody(references[index] ?? '', { mobile }),
  );
  const key = newReference();
  const sent = await payOutBatch(items, key);
  assert.match(String(sent.body['id']), /^pb-/);
  assert.deepEqual(Object.keys(sent.body), ['id'], 'it is paid later');
  assert.deepEqual((await payOutBatch(items, key)).body, sent.body);
  assert.deepEqual(refusal(await payOutBatch(items.slice(1), key)), [409, 'idempotency-mismatch']);
  const path = `/v1/payout-batch/${String(sent.body['id'])}`;
  const read = async () => {
    const { body } = await call(path);
    const payouts = body['payouts'] as Body[];
    return [body['status'], ...payouts.map((payout) => [payout['client_reference'], payout['status']])];
  };
  assert.deepEqual(await read(), ['processing', ...references.map((reference) => [reference, 'processing'])]);
  await networks.clock.advance(1_000);
  const [paid, refused, unpaid] = references;
  assert.deepEqual(await read(), ['complete', [paid, 'succeeded'], [refused, 'failed'], [unpaid, 'failed']]);
  const { body } = await call(`/v1/payouts/search?client_reference=${String(unpaid)}`);
  const [found] = body['result'] as Body[];
  assert.equal((found?.['payout_error'] as Body | undefined)?.['error_code'], 'insufficient-funds');
  assert.deepEqual(refusal(await call(path, { holder: 'Other567' })), [404, 'not-found']);
});

test('another key pays again, as Wave does, and a search finds both payouts', async () => {
  const reference = newReference();
  await payOutBatch([payoutBody(reference)]);
  await payOut('+220877510001', reference);
  const { body } = await call(`/v1/payouts/search?client_reference=${reference}`);
  assert.equal((body['result'] as Body[]).length, 2);
});

test('a batch without a key, without payouts or with a payout that breaks a rule is refused as a whole', async () => {
  const good = payoutBody(newReference());
  assert.deepEqual(refusal(await call('/v1/payout-batch', { body: batchOf([good]) })), [
    400,
    'request-validation-error',
  ]);
  for (const [body, field] of [
    [batchOf([]), 'payouts'],
    [{ ...batchOf([good]), name: 'Wages' }, 'name'],
    [batchOf([good, { ...payoutBody(newReference()), metadata: {} }]), 'metadata'],
    [batchOf([good, payoutBody(newReference(), { mobile: '7510001' })]), 'mobile'],
  ] as const) {
    const response = await call('/v1/payout-batch', { body, headers: { 'idempotency-key': newReference() } });
    assert.deepEqual(refusal(response), [422, 'request-validation-error', field]);
  }
  const { body } = await call(`/v1/payouts/search?client_reference=${String(good['client_reference'])}`);
  assert.deepEqual(body, { result: [] });
});

test('a refund is of the whole payment and once, also if it is repeated', async () => {
  const { body } = await create('+220877000001');
  const refund = (id: unknown) => call(`${sessionsPath}/${String(id)}/refund`, { method: 'POST' });
  assert.deepEqual(await refund(body['id']), { status: 200, body: {} });
  assert.deepEqual(await refund(body['id']), { status: 200, body: {} });
  const text = 'SELECT id FROM simulator.payouts WHERE refunded_transaction_id = $1';
  assert.equal((await networks.db.rows({ name: 'test_refunds', text, values: [body['transaction_id']] })).length, 1);
  const open = (await create()).body;
  assert.deepEqual(refusal(await refund(open['id'])), [400, 'checkout-refund-failed']);
  assert.deepEqual(refusal(await refund('cos-nothing')), [404, 'checkout-session-not-found']);
});

test('the statement has each movement of the day with its balance, in order and on pages', async () => {
  const holder = 'Stmt1234';
  const of = (body: Body): Call => ({ body: { ...body, client_reference: `${holder}${newReference()}` }, holder });
  const paid = await call(sessionsPath, of(sessionBody({ restrict_payer_mobile: '+220877000012' })));
  await call(
    `${sessionsPath}/${String((await call(sessionsPath, of(sessionBody({ restrict_payer_mobile: '+220877000001' })))).body['id'])}/refund`,
    { method: 'POST', holder },
  );
  const key = `${holder}key0001`;
  await call('/v1/payout', {
    body: payoutBody(key, { mobile: '+220877510012' }),
    holder,
    headers: { 'idempotency-key': key },
  });
  await networks.clock.advance(2_000);
  const day = networks.clock.now().toISOString().slice(0, 10);
  const { body } = await call(`/v1/transactions?date=${day}`, { holder });
  const items = body['items'] as Body[];
  assert.deepEqual(items.map((item) => [item['transaction_type'], item['amount'], item['is_reversal']]).toSorted(), [
    ['api_checkout', '-100', true],
    ['api_checkout', '100', false],
    ['api_checkout', '100', false],
    ['api_checkout_refund', '-100', false],
    ['api_payout', '-100', false],
    ['api_payout_reversal', '100', true],
  ]);
  const reversal = items.find((item) => item['is_reversal'] === true && item['transaction_type'] === 'api_checkout');
  assert.equal(reversal?.['checkout_api_session_id'], paid.body['id']);
  let balance = 1_000_000;
  for (const item of items) assert.equal(Number(item['balance']), (balance += Number(item['amount'])));
  assert.deepEqual((await call('/v1/balance', { holder })).body, { amount: String(balance), currency: 'GMD' });
  const query = { account: holder, network: 'wave', from: new Date(`${day}T00:00:00Z`), before: networks.clock.now() };
  const first = await networks.simulator.statements.list({ ...query, after: null, rowsMax: 2 });
  const rest = await networks.simulator.statements.list({ ...query, after: first.at(-1) ?? null, rowsMax: 10 });
  const all = await networks.simulator.statements.list({ ...query, after: null, rowsMax: 10 });
  assert.deepEqual([...first, ...rest], all);
  assert.deepEqual(refusal(await call('/v1/transactions?date=today', { holder })).at(-1), 'date');
  assert.deepEqual(refusal(await call(`/v1/transactions?date=${day}&after=x`, { holder })).at(-1), 'after');
});
