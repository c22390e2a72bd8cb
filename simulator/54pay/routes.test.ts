import assert from 'node:assert/strict';
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

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const publicKey = accountCredential(bearerSecret, { network: '54pay', account });

interface Call {
  path: string;
  body?: Record<string, unknown>;
  headers?: Record<string, string>;
}

async function call({ path, body, headers = {} }: Call): Promise<Record<string, unknown>> {
  const response = await networks.server.inject({
    method: body === undefined ? 'GET' : 'POST',
    url: `/simulator/networks/54pay/collection/v1${path}`,
    headers: { 'x-business': base64(publicKey), 'x-app': 'api', ...headers },
    ...(body === undefined ? {} : { payload: body }),
  });
  assert.equal(response.statusCode, 200);
  return response.json();
}

let references = 0;

function payin(changes: Record<string, unknown> = {}): Record<string, unknown> {
  references += 1;
  return {
    requestHeader: { clientId: '', requestType: 'B' },
    ...{ customerName: 'Customer', customerEmail: '', customerNumber: '2207044444' },
    transactionReference: `${account}payin${String(references).padStart(17, '0')}`,
    ...{ transactionDescription: 'Rice', transactionAmount: 100.5, transactionCurrency: 'GMD' },
    ...{ transactionCountry: 'GM', transactionType: '1', operatorCode: 'GMAFR' },
    ...{ successUrl: 'https://shop.example/', errorUrl: 'https://shop.example/', cancelUrl: 'https://shop.example/' },
    webhookUrl: 'http://127.0.0.1/back',
    ...changes,
  };
}

const moduleOf = (body: Record<string, unknown>): string =>
  base64(
    `${String(body['transactionAmount'])}${String(body['transactionReference'])}${String(body['customerNumber'])}`,
  );

/** The reason of a refusal, else what the response says. */
async function outcomeOf(body: Record<string, unknown>, headers: Record<string, string> = {}): Promise<unknown> {
  const { responseDetails } = await call({ path: '/payin', body, headers: { 'x-module': moduleOf(body), ...headers } });
  const { failedReason, responseMessage } = responseDetails as Record<string, unknown>;
  return failedReason ?? responseMessage;
}

test('a payin needs the headers that the documents require', async () => {
  const body = payin();
  const wrong = 'INCORRECT SECURITY MODULE';
  assert.equal(await outcomeOf(body, { 'x-module': '' }), wrong);
  assert.equal(await outcomeOf(body, { 'x-module': base64('100.50') }), wrong);
  assert.equal(await outcomeOf(body, { 'x-business': publicKey }), wrong, 'not encoded');
  assert.equal(await outcomeOf(body, { 'x-business': base64('guessed') }), wrong);
  assert.equal(await outcomeOf(body, { 'x-app': 'web' }), wrong);
  assert.equal(await outcomeOf(body), 'PENDING');
});

test('a payin with a wrong or unknown field is refused, and creates nothing', async () => {
  const refused: [Record<string, unknown>, string][] = [
    [{ transactionAmount: '100.5' }, 'INVALID REQUEST'],
    [{ transactionAmount: 0 }, 'INVALID REQUEST'],
    [{ transactionAmount: 1.005 }, 'INVALID REQUEST'],
    [{ transactionCurrency: 'KES' }, 'INVALID REQUEST'],
    [{ transactionCountry: 'KE' }, 'INVALID REQUEST'],
    [{ requestHeader: { clientId: '', requestType: 'Collections' } }, 'INVALID REQUEST'],
    [{ customerNumber: '+2207044444' }, 'INVALID REQUEST'],
    [{ customerNumber: '2201234' }, 'INVALID CUSTOMER NUMBER'],
    [{ operatorCode: 'KESAF' }, 'OPERATOR NOT SUPPORTED'],
    [{ operatorCode: 'GMWAV' }, 'OPERATOR NOT SUPPORTED'],
    [{ webhookUrl: 'ftp://x' }, 'INVALID REQUEST'],
    [{ more: 1 }, 'INVALID REQUEST'],
    [{ transactionReference: 'Other567reference0001' }, 'INVALID REQUEST'],
  ];
  for (const [changes, reason] of refused) {
    const body = payin(changes);
    assert.equal(await outcomeOf(body), reason, JSON.stringify(changes));
    const status = await call({ path: `/status?transactionReference=${String(body['transactionReference'])}` });
    assert.match(JSON.stringify(status), /TRANSACTION NOT FOUND/);
  }
});

test('a reference is accepted once, for all operators', async () => {
  const body = payin();
  assert.equal(await outcomeOf(body), 'PENDING');
  assert.equal(await outcomeOf(body), 'DUPLICATE REFERENCE');
  const repeated = await Promise.all(Array.from({ length: 5 }, () => outcomeOf(body)));
  assert.deepEqual(new Set(repeated), new Set(['DUPLICATE REFERENCE']));
  const fresh = payin();
  const racing = await Promise.all(Array.from({ length: 10 }, () => outcomeOf(fresh)));
  assert.equal(racing.filter((outcome) => outcome === 'PENDING').length, 1);
});

test('a completion needs the module of its payin, and a known reference of the same business', async () => {
  const body = payin({ operatorCode: 'GMQMO' });
  const { otpIsRequired, lengthOfOtp } = await call({ path: '/payin', body, headers: { 'x-module': moduleOf(body) } });
  assert.deepEqual([otpIsRequired, lengthOfOtp], [true, 6]);
  const completion = { transactionReference: body['transactionReference'], otp: '000000' };
  const complete = async (changes: Record<string, unknown>, headers: Record<string, string>): Promise<string> =>
    JSON.stringify(await call({ path: '/complete-payin', body: { ...completion, ...changes }, headers }));
  const right = { 'x-module': moduleOf(body) };
  assert.match(await complete({}, {}), /INCORRECT SECURITY MODULE/);
  assert.match(await complete({ more: 1 }, right), /INVALID REQUEST/);
  assert.match(await complete({ transactionReference: `${account}nothing00000` }, right), /TRANSACTION NOT FOUND/);
  const other = base64(accountCredential(bearerSecret, { network: '54pay', account: 'Other567' }));
  assert.match(await complete({}, { ...right, 'x-business': other }), /TRANSACTION NOT FOUND/);
  assert.match(await complete({}, right), /INVALID OTP/);
  assert.match(await complete({}, right), /INVALID OTP/);
  assert.match(await complete({}, right), /OTP ATTEMPTS EXCEEDED/);
  assert.ok(!(await complete({}, right)).includes('SUCCESSFUL'));
});

test('a code goes to the phone only', async () => {
  const body = payin({ operatorCode: 'GMQMO' });
  const response = await call({ path: '/payin', body, headers: { 'x-module': moduleOf(body) } });
  const reference = String(body['transactionReference']);
  const prompt = await networks.simulator.findPrompt(await networks.sessionIdOf('qmoney', { reference }));
  assert.ok(prompt?.code);
  const status = await call({ path: `/status?transactionReference=${reference}` });
  assert.ok(!JSON.stringify([response, status]).includes(prompt.code));
});

test('hostile references are not found, and break nothing', async () => {
  for (const reference of ['', '%00', 'x'.repeat(200), "'--", '%F0%9F%98%80']) {
    const status = await call({ path: `/status?transactionReference=${reference}` });
    assert.match(JSON.stringify(status), /TRANSACTION NOT FOUND/, reference);
  }
});
