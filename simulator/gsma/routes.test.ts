import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import {
  account,
  bearerSecret,
  startSimulatedNetworks,
  type SimulatedNetworks,
} from '../../test/harness/simulated-networks.ts';
import { accountCredential } from '../credentials.ts';

// The provider refuses what a real one refuses. What it does with a request is in `simulator/scenarios.test.ts`.

let networks: SimulatedNetworks;

before(async () => {
  networks = await startSimulatedNetworks();
});

after(() => networks.close());

type Headers = Record<string, string | undefined>;

interface Call {
  path: string;
  headers?: Headers;
  /** Text is sent as it is. */
  body?: unknown;
}

async function call({ path, headers = {}, body }: Call): Promise<{ status: number; body: Record<string, unknown> }> {
  const all: Headers = {
    'x-api-key': accountCredential(bearerSecret, { network: 'gsma', account }),
    'x-date': networks.clock.now().toISOString(),
    'x-account-holding-institution-identifier-type': 'organisationid',
    'x-account-holding-institution-identifier': 'aps',
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'x-correlationid': randomUUID() }),
    ...headers,
  };
  const sent = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const response = await networks.server.inject({
    method: body === undefined ? 'GET' : 'POST',
    url: `/simulator/networks/gsma${path}`,
    headers: Object.fromEntries(sent),
    ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: response.statusCode, body: response.json() };
}

let references = 0;

function collection(changes: Record<string, unknown> = {}): Record<string, unknown> {
  references += 1;
  return {
    ...{ amount: '100.00', currency: 'GMD', debitParty: [{ key: 'msisdn', value: '+2207044444' }] },
    requestingOrganisationTransactionReference: `${account}wire${String(references).padStart(18, '0')}`,
    ...changes,
  };
}

const merchantPay = '/transactions/type/merchantpay';
const codeOf = async (made: Call): Promise<unknown[]> => {
  const { status, body } = await call(made);
  return [status, body['errorCategory'], body['errorCode']];
};

test('a request needs a valid key, date, institution and correlation id', async () => {
  const refused: [Headers, unknown[]][] = [
    [{ 'x-api-key': undefined }, [401, 'authorisation', 'clientAuthorisationError']],
    [{ 'x-api-key': 'guessed' }, [401, 'authorisation', 'clientAuthorisationError']],
    [
      { 'x-api-key': accountCredential(bearerSecret, { network: 'wave', account }) },
      [401, 'authorisation', 'clientAuthorisationError'],
    ],
    [{ 'x-date': undefined }, [400, 'validation', 'mandatoryValueNotSupplied']],
    [{ 'x-date': 'today' }, [400, 'validation', 'formatError']],
    [{ 'x-account-holding-institution-identifier': 'yonna' }, [404, 'identification', 'identifierError']],
    [{ 'x-account-holding-institution-identifier': 'wave' }, [400, 'businessRule', 'transactionTypeError']],
    // It pays out over this API, and collects over another.
    [{ 'x-account-holding-institution-identifier': 'qmoney' }, [400, 'businessRule', 'transactionTypeError']],
    [{ 'x-correlationid': undefined }, [400, 'validation', 'mandatoryValueNotSupplied']],
    [{ 'x-correlationid': 'not-a-uuid' }, [400, 'validation', 'formatError']],
    [{ 'x-callback-url': 'ftp://shop.example/' }, [400, 'validation', 'formatError']],
    [{ 'x-content-hash': 'a'.repeat(64) }, [401, 'authorisation', 'clientAuthorisationError']],
    [{ 'content-type': 'text/plain' }, [400, 'validation', 'formatError']],
  ];
  for (const [headers, expected] of refused) {
    assert.deepEqual(
      await codeOf({ path: merchantPay, headers, body: collection() }),
      expected,
      JSON.stringify(headers),
    );
  }
  const body = JSON.stringify(collection());
  const hash = createHash('sha256').update(body).digest('hex');
  assert.equal((await call({ path: merchantPay, headers: { 'x-content-hash': hash }, body })).status, 202);
});

const refusedBodies: [string, unknown, unknown[]][] = [
  ['no amount', collection({ amount: undefined }), [400, 'validation', 'mandatoryValueNotSupplied']],
  ['a number as amount', collection({ amount: 100 }), [400, 'validation', 'formatError']],
  ['a leading zero', collection({ amount: '0100' }), [400, 'validation', 'formatError']],
  ['five decimals', collection({ amount: '1.00000' }), [400, 'validation', 'formatError']],
  ['an amount of no money', collection({ amount: '1.005' }), [400, 'validation', 'formatError']],
  ['a negative amount', collection({ amount: '-1' }), [400, 'validation', 'formatError']],
  ['nothing', collection({ amount: '0' }), [400, 'businessRule', 'lessThanTransactionMinValue']],
  ['too much', collection({ amount: '9'.repeat(18) }), [400, 'businessRule', 'greaterThanTransactionMaxValue']],
  ['another currency', collection({ currency: 'XOF' }), [400, 'validation', 'currencyNotSupported']],
  ['no payer', collection({ debitParty: undefined }), [400, 'validation', 'mandatoryValueNotSupplied']],
  ['no number', collection({ debitParty: [{ key: 'accountid', value: '7' }] }), [400, 'validation', 'formatError']],
  ['half a number', collection({ debitParty: [{ key: 'msisdn', value: '12' }] }), [400, 'validation', 'formatError']],
  ['another type', collection({ type: 'deposit' }), [400, 'validation', 'formatError']],
  ['an unknown field', collection({ payer: 'x' }), [400, 'validation', 'formatError']],
  ['a long text', collection({ descriptionText: 'x'.repeat(257) }), [400, 'validation', 'lengthError']],
  [
    'the reference of another account',
    collection({ requestingOrganisationTransactionReference: 'Other567reference0001' }),
    [400, 'validation', 'formatError'],
  ],
  ['no JSON', 'nonsense', [400, 'validation', 'formatError']],
  ['a field twice', '{"amount":"1","amount":"2"}', [400, 'validation', 'formatError']],
];

test('a body with a wrong field is refused in the words of the API, and creates nothing', async () => {
  for (const [fault, body, expected] of refusedBodies) {
    assert.deepEqual(await codeOf({ path: merchantPay, body }), expected, fault);
  }
  const written = await networks.db.rows({
    name: 'test_gsma',
    text: 'SELECT 1 FROM simulator.gsma_requests',
    values: [],
  });
  assert.ok(written.length <= 1, 'only the request with a right hash, in whatever order the tests ran');
});

test('types that the provider does not offer are refused', async () => {
  for (const type of ['deposit', 'transfer', 'withdrawal', 'inttransfer']) {
    const path = `/transactions/type/${type}`;
    assert.deepEqual(await codeOf({ path, body: collection() }), [400, 'businessRule', 'transactionTypeError'], type);
  }
});

test('a key is accepted once: a repetition is a duplicate, whatever its body, also ten at once', async () => {
  const headers = { 'x-correlationid': randomUUID(), 'x-callback-url': 'http://127.0.0.1/back' };
  const body = collection();
  const first = await call({ path: merchantPay, headers, body });
  assert.equal(first.status, 202);
  const duplicate = [400, 'businessRule', 'duplicateRequest'];
  assert.deepEqual(await codeOf({ path: merchantPay, headers, body }), duplicate);
  assert.deepEqual(await codeOf({ path: merchantPay, headers, body: collection() }), duplicate);
  const other = { 'x-correlationid': randomUUID() };
  assert.deepEqual(await codeOf({ path: merchantPay, headers: other, body }), duplicate, 'so is its reference');
  const found = await call({ path: `/responses/${headers['x-correlationid']}` });
  assert.match(String(found.body['link']), /^\/requeststates\/[0-9a-f-]{36}$/);
  const racing = { 'x-correlationid': randomUUID() };
  const contested = collection({ debitParty: [{ key: 'msisdn', value: '+2207040001' }] });
  const calls = Array.from({ length: 10 }, () => call({ path: merchantPay, headers: racing, body: contested }));
  const accepted = (await Promise.all(calls)).filter(({ status }) => status < 300);
  assert.equal(accepted.length, 1);
});

test('without a callback URL a request is polled, up to its limit', async () => {
  const started = await call({ path: merchantPay, body: collection() });
  const { serverCorrelationId, notificationMethod, pollLimit, status } = started.body;
  assert.deepEqual([notificationMethod, pollLimit, status], ['polling', 20, 'pending']);
  const path = `/requeststates/${String(serverCorrelationId)}`;
  for (let poll = 0; poll < 20; poll += 1) assert.equal((await call({ path })).status, 200);
  assert.deepEqual(await codeOf({ path }), [400, 'businessRule', 'rateLimitError']);
});

test('what is not there, or another account’s or institution’s, is not found', async () => {
  const headers = { 'x-correlationid': randomUUID() };
  const paid = collection({ debitParty: [{ key: 'msisdn', value: '+2207040001' }] });
  await call({ path: merchantPay, headers, body: paid });
  const { body } = await call({ path: `/responses/${headers['x-correlationid']}` });
  const path = String(body['link']);
  assert.match(path, /^\/transactions\/T/);
  assert.equal((await call({ path })).status, 200);
  const notFound = [404, 'identification', 'identifierError'];
  const theirs = { 'x-api-key': accountCredential(bearerSecret, { network: 'gsma', account: 'Other567' }) };
  assert.deepEqual(await codeOf({ path, headers: theirs }), notFound);
  assert.deepEqual(await codeOf({ path, headers: { 'x-account-holding-institution-identifier': 'qmoney' } }), notFound);
  for (const hostile of ['%00', 'T'.repeat(100), 'x', randomUUID()]) {
    for (const kind of ['transactions', 'requeststates', 'responses']) {
      assert.deepEqual(await codeOf({ path: `/${kind}/${hostile}` }), notFound, `${kind}/${hostile}`);
    }
  }
});

test('the transaction of a payer who has not paid is not told', async () => {
  const headers = { 'x-correlationid': randomUUID() };
  await call({ path: merchantPay, headers, body: collection() });
  const text = 'SELECT transaction_id AS id FROM simulator.sessions WHERE status = $1';
  const open = await networks.db.rows<{ id: string }>({ name: 'test_open', text, values: ['open'] });
  assert.ok(open.length > 0);
  for (const { id } of open) assert.equal((await call({ path: `/transactions/${id}` })).status, 404);
});

test('a reversal without an amount takes back the whole payment, and no more than that', async () => {
  const headers = { 'x-correlationid': randomUUID() };
  await call({
    path: merchantPay,
    headers,
    body: collection({ debitParty: [{ key: 'msisdn', value: '+2207040001' }] }),
  });
  const { body } = await call({ path: `/responses/${headers['x-correlationid']}` });
  const reversals = `${String(body['link'])}/reversals`;
  const reversal = () => {
    const { requestingOrganisationTransactionReference } = collection();
    return { type: 'reversal', requestingOrganisationTransactionReference };
  };
  const part = await call({ path: reversals, body: { ...reversal(), amount: '40', currency: 'GMD' } });
  assert.ok(part.status < 300);
  const tooMuch = await codeOf({ path: reversals, body: reversal() });
  assert.deepEqual(tooMuch, [400, 'businessRule', 'overPaymentNotAllowed']);
  const unknown = await codeOf({ path: '/transactions/Tnothing/reversals', body: reversal() });
  assert.deepEqual(unknown, [400, 'businessRule', 'incorrectState']);
  const half = await codeOf({ path: reversals, body: { ...reversal(), amount: '1' } });
  assert.deepEqual(half, [400, 'validation', 'mandatoryValueNotSupplied']);
});
