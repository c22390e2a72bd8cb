import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { ManualClock } from '../../../../test/harness/manual-clock.ts';
import type { StartCollection } from '../contract.ts';
import { ScriptedServer, type ScriptedReply } from '../scripted-server.corpus.ts';
import { createPayinConnectors, type PayinConnector } from './connector.ts';
import { defaultPayinOptions } from './options.ts';

const reference = 'Shop1234reference0000000000001';

const server = new ScriptedServer();
let connectors: PayinConnector[] = [];
let netConnectors: PayinConnector[] = [];
const clock = new ManualClock();

before(async () => {
  const url = await server.start();
  const account = {
    baseUrl: () => url,
    ...{ clock, callTimeoutMs: 3_000, railAccount: '54pay-test', testMode: true, merchantId: null },
    publicKeyFor: () => 'public key',
  };
  connectors = createPayinConnectors({ ...account, options: defaultPayinOptions, amountStepMinor: 1n });
  netConnectors = createPayinConnectors({
    ...account,
    options: { ...defaultPayinOptions, amountReceived: 'net' },
    amountStepMinor: 100n,
  });
});

beforeEach(() => server.reset());

after(async () => {
  await Promise.all([...connectors, ...netConnectors].map((connector) => connector.close()));
  server.close();
});

const request: StartCollection = {
  ...{ reference, amountMinor: 45_050n, currency: 'GMD', payerNumber: '+220877000001', payerNumberAsSent: '7000001' },
  ...{ description: 'Rice', expiresAt: new Date(0), returnUrl: 'https://shop.example/back' },
  callbackUrl: 'http://localhost/networks/54pay-test/callbacks',
};

function at(network: string, from = connectors) {
  const connector = from.find(({ capabilities }) => capabilities.network === network);
  assert.ok(connector);
  return connector.collections;
}

const start = (network: string, ...replies: ScriptedReply[]) => {
  server.replies = replies;
  return at(network).start(request);
};
const lookUp = (reply: ScriptedReply, network = 'qmoney', handles: Record<string, string> = {}) => {
  server.replies = [reply];
  return at(network).lookUp({ reference, handles });
};
const details = (responseCode: string, failedReason?: string, more: Record<string, unknown> = {}) => ({
  ...{
    responseDetails: { responseCode, responseMessage: 'WORD', failedReason },
    transactionReference: reference,
    ...more,
  },
});
const report = (changes: Record<string, unknown> = {}) => ({
  ...{
    transaction_reference: 'PG-C-1',
    merchant_reference: reference,
    status: 'COMPLETED',
    transaction_status: 'Funds Received',
  },
  ...{ transaction_fee: 0, amount_received: 450.5, channel: 'MOBILE_MONEY', ...changes },
});
const decoded = (header: unknown) => Buffer.from(String(header), 'base64').toString();

test('a payin has the documented headers and body, and the network says what the payer does', async () => {
  const response = await start('qmoney', [200, details('09', undefined, { otpIsRequired: true, lengthOfOtp: 6 })]);
  assert.ok(response.state === 'awaiting_payer');
  assert.deepEqual(response.nextAction, { type: 'enter_code', length: 6 });
  const [sent] = server.received;
  assert.equal(sent?.line, 'POST /collection/v1/payin');
  const module = `450.5${reference}2207000001`;
  assert.deepEqual([decoded(sent.headers['x-module']), decoded(sent.headers['x-business'])], [module, 'public key']);
  assert.equal(sent.headers['x-app'], 'api');
  assert.deepEqual(JSON.parse(sent.body), {
    requestHeader: { clientId: '', requestType: 'B' },
    ...{ customerName: 'Customer', customerEmail: '', customerNumber: '2207000001', transactionReference: reference },
    ...{ transactionDescription: 'Rice', transactionAmount: 450.5, transactionCurrency: 'GMD' },
    ...{ transactionCountry: 'GM', transactionType: '1', operatorCode: 'GMQMO' },
    ...{ successUrl: request.returnUrl, errorUrl: request.returnUrl, cancelUrl: request.returnUrl },
    webhookUrl: `${request.callbackUrl}?reference=${reference}&operation=collection`,
  });
});

test('each operator has its flow, and a link has to be one', async () => {
  const actionOf = async (network: string, more: Record<string, unknown>) => {
    const response = await start(network, [200, details('09', undefined, more)]);
    return response.state === 'awaiting_payer' ? response.nextAction : response.state;
  };
  assert.deepEqual(await actionOf('afrimoney', {}), { type: 'approve_then_confirm' });
  assert.deepEqual(await actionOf('qmoney', {}), { type: 'enter_code', length: 6 });
  assert.deepEqual(await actionOf('afrimoney', { otpIsRequired: true, lengthOfOtp: 4 }), {
    type: 'enter_code',
    length: 4,
  });
  const url = 'https://pay.wave.com/c/cos-1';
  assert.deepEqual(await actionOf('wave', { paymentCompletionUrl: url }), { type: 'open_url', url });
  assert.deepEqual(await actionOf('wave', { redirectionUrl: url }), { type: 'open_url', url });
  assert.equal(await actionOf('wave', { redirectionUrl: 'javascript:alert(1)' }), 'unknown');
  assert.equal(await actionOf('wave', {}), 'unknown');
});

test('a look-up of an open payment repeats what the payer has to do, also after a lost response', async () => {
  const started = await start('afrimoney', [200, details('09', undefined, { otpIsRequired: true, lengthOfOtp: 4 })]);
  assert.ok(started.state === 'awaiting_payer');
  const again = await lookUp([200, report({ status: 'PENDING' })], 'afrimoney', { ...started.handles });
  assert.deepEqual(again, started);
  const lost = await lookUp([200, report({ status: 'PENDING' })], 'afrimoney');
  assert.ok(lost.state === 'awaiting_payer' && lost.nextAction.type === 'approve_then_confirm');
  assert.equal((await lookUp([200, report({ status: 'PENDING' })], 'wave')).state, 'processing');
});

test('DUPLICATE REFERENCE means that the provider has it: the original is looked up', async () => {
  const duplicate: ScriptedReply = [200, details('06', 'DUPLICATE REFERENCE')];
  assert.equal((await start('qmoney', duplicate, [200, report()])).state, 'succeeded');
  assert.equal((await start('qmoney', duplicate, [200, details('06', 'TRANSACTION NOT FOUND')])).state, 'unknown');
  assert.equal((await start('qmoney', duplicate, 'close')).state, 'unknown');
});

test('what is documented as failed is refused, and a wrong key is the network’s absence', async () => {
  const refusal = await start('qmoney', [400, details('06', 'SOMETHING')]);
  assert.ok(refusal.state === 'refused' && refusal.failure.code === 'refused_by_network');
  const wrongKey = await start('qmoney', [200, details('06', 'INCORRECT SECURITY MODULE')]);
  assert.ok(wrongKey.state === 'refused' && wrongKey.failure.code === 'network_unavailable');
});

test('a code is completed with the module of its start; a wrong one may be tried again', async () => {
  const handles = { action: '6' };
  const enter = (code: string | null, ...replies: ScriptedReply[]) => {
    server.replies = replies;
    return at('qmoney').continue({ ...request, handles, code });
  };
  assert.equal((await enter('123456', [200, details('00')], [200, report()])).state, 'succeeded');
  assert.equal(server.received[0]?.line, 'POST /collection/v1/complete-payin');
  assert.deepEqual(JSON.parse(server.received[0].body), { transactionReference: reference, otp: '123456' });
  assert.equal(decoded(server.received[0].headers['x-module']), `450.5${reference}2207000001`);
  assert.equal((await enter('000000', [200, details('06', 'INVALID OTP')])).state, 'code_refused');
  assert.equal(
    (await enter('000000', [200, details('06', 'ELSE')], [200, report({ status: 'FAILED' })])).state,
    'refused',
  );
  assert.equal((await enter('123456', 'close')).state, 'unknown');
  server.received = [];
  assert.equal((await enter(null, [200, details('09')], [200, report()])).state, 'succeeded');
  assert.deepEqual(JSON.parse(server.received[0]?.body ?? ''), { transactionReference: reference });
});

test('a report is read as configured: gross or net, by our reference, with a known status', async () => {
  const paid = await lookUp([200, report({ transaction_fee: 4.5 })]);
  assert.deepEqual(paid.state === 'succeeded' && paid.providerTransaction, {
    ...{ transactionId: 'PG-C-1', networkReference: 'PG-C-1', amountMinor: 45_050n, currency: 'GMD' },
    ...{ networkFeeMinor: 450n, payerNumber: null },
  });
  server.replies = [[200, report({ transaction_fee: 4.5, amount_received: 446 })]];
  const net = await at('qmoney', netConnectors).lookUp({ reference, handles: {} });
  assert.ok(net.state === 'succeeded' && net.providerTransaction.amountMinor === 45_050n);
  assert.equal((await lookUp([200, report({ status: 'REVERSED' })])).state, 'reversed');
  assert.equal((await lookUp([404, details('06', 'TRANSACTION NOT FOUND')])).state, 'not_found');
});

test('what is not as documented is unknown, and never final', async () => {
  for (const reply of [
    'close',
    [500, {}],
    [502, details('06')],
    [200, '<html>'],
    [200, []],
    [200, details('77')],
  ] as ScriptedReply[]) {
    assert.equal((await start('qmoney', reply)).state, 'unknown', JSON.stringify(reply));
  }
  assert.equal((await start('qmoney', [200, { ...details('06'), transactionReference: 'Other' }])).state, 'unknown');
  for (const changes of [
    ...[
      { status: 'ON_HOLD' },
      { status: 'constructor' },
      { merchant_reference: 'Other' },
      { amount_received: '450.5' },
    ],
    ...[
      { amount_received: -1 },
      { amount_received: 1.001 },
      { transaction_reference: null },
      { transaction_fee: null },
    ],
  ]) {
    assert.equal((await lookUp([200, report(changes)])).state, 'unknown', JSON.stringify(changes));
  }
  for (const reply of ['close', [500, report()], [404, {}], [200, details('06', 'ELSE')]] as ScriptedReply[]) {
    assert.equal((await lookUp(reply)).state, 'unknown', JSON.stringify(reply));
  }
});

test('the unsigned webhook is only a hint', () => {
  const [connector] = connectors;
  const callback = { headers: {}, body: Buffer.from(JSON.stringify(report())), receivedAt: clock.now() };
  assert.deepEqual(connector?.readCallback({ ...callback, query: { reference, operation: 'collection' } }), {
    accepted: true,
    notifications: [{ operation: 'collection', reference, response: null }],
  });
  assert.equal(connector.readCallback({ ...callback, query: {} }).accepted, false);
});
