import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { ManualClock } from '../../../../test/harness/manual-clock.ts';
import type { JsonObject } from '../../kit/strict-json.ts';
import type { StartCollection, StartPayout } from '../contract.ts';
import { ScriptedServer, type ScriptedReply } from '../scripted-server.corpus.ts';
import { correlationId } from './client.ts';
import { readGsmaConfiguration } from './configuration.ts';
import { createGsmaConnectors, type GsmaConnector } from './connector.ts';
import { gsmaSettings } from './gsma-settings.corpus.ts';
import { readLookUp } from './translate.ts';

const reference = 'Shop1234reference0000000000001';
const clock = new ManualClock();
const server = new ScriptedServer();
let aps: GsmaConnector;

before(async () => {
  const url = await server.start();
  const credentials = {
    apiKey: 'key',
    clientId: 'client',
    userBearer: 'token',
    userCredential1: 'one',
    userCredential2: 'two',
  };
  const [connector] = createGsmaConnectors({
    baseUrl: () => `${url}/mm`,
    ...{
      clock,
      callTimeoutMs: 3_000,
      railAccount: 'gsma-test',
      testMode: true,
      merchantId: null,
      breakerScope: 'network',
    },
    configuration: readGsmaConfiguration(gsmaSettings),
    credentialsFor: () => credentials,
  });
  assert.ok(connector);
  aps = connector;
});

beforeEach(() => server.reset());

after(async () => {
  await aps.close();
  server.close();
});

const money = { amountMinor: 45_050n, currency: 'GMD' };
const callbackUrl = 'http://localhost/networks/gsma-test/callbacks';
const collection: StartCollection = {
  ...{ reference, ...money, callbackUrl, payerNumber: '+220877000001', payerNumberAsSent: '7000001' },
  ...{ description: 'Rice', expiresAt: new Date(0), returnUrl: 'https://shop.example' },
};
const payout: StartPayout = {
  ...{ reference, ...money, callbackUrl, beneficiaryNumber: '+220877000001', beneficiaryNumberAsSent: '7000001' },
  ...{ beneficiaryName: null, description: 'Wages' },
};
const refund = { reference, ...money, callbackUrl, originalTransactionId: 'T1', description: 'Back' };

function transaction(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    ...{ transactionReference: 'T1', requestingOrganisationTransactionReference: reference, type: 'merchantpay' },
    ...{ transactionStatus: 'completed', amount: '450.50', currency: 'GMD' },
    ...{ debitParty: [{ key: 'msisdn', value: '+2207000001' }], ...changes },
  };
}

function requestState(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return { serverCorrelationId: 'S1', status: 'pending', notificationMethod: 'callback', pollLimit: 2, ...changes };
}

const start = async (...replies: ScriptedReply[]) => {
  server.replies = replies;
  return aps.collections?.start(collection);
};
const payOut = async (...replies: ScriptedReply[]) => {
  server.replies = replies;
  return aps.payouts?.start(payout);
};
const lookUp = async (handles: Record<string, string>, ...replies: ScriptedReply[]) => {
  server.replies = replies;
  return aps.collections?.lookUp({ reference, handles });
};
const lookUpOnSchedule = async (earlierLookUps: number, handles: Record<string, string>, reply: ScriptedReply) => {
  server.replies = [reply];
  return aps.collections?.lookUp({ reference, handles, earlierLookUps });
};
const error = (category: string, code: string, text = 'errorDescription') => ({
  ...{ errorCategory: category, errorCode: code, [text]: 'Words' },
});
const lines = () => server.received.map(({ line }) => line.replace('/mm', ''));

test('a collection is a merchant payment with the documented headers, and 201 pays it', async () => {
  const response = await start([201, transaction()]);
  assert.equal(response?.state, 'succeeded');
  assert.deepEqual(response?.state === 'succeeded' && response.providerTransaction, {
    ...{ transactionId: 'T1', networkReference: 'T1', amountMinor: 45_050n, currency: 'GMD' },
    ...{ networkFeeMinor: 0n, payerNumber: '+2207000001' },
  });
  const [sent] = server.received;
  assert.equal(sent?.line, 'POST /mm/transactions/type/merchantpay');
  assert.deepEqual(JSON.parse(sent.body), {
    ...{ amount: '450.50', currency: 'GMD', debitParty: [{ key: 'msisdn', value: '+2207000001' }] },
    ...{ creditParty: [{ key: 'accountid', value: '2999' }], descriptionText: 'Rice' },
    requestingOrganisationTransactionReference: reference,
  });
  const expected = {
    'x-date': clock.now().toISOString(),
    'x-correlationid': correlationId(reference),
    'x-callback-url': `${callbackUrl}?reference=${reference}&operation=collection`,
    'x-content-hash': createHash('sha256').update(sent.body).digest('hex'),
    ...{ 'x-api-key': 'key', 'x-client-id': 'client', 'x-user-bearer': 'token', 'x-channel': 'Web' },
    ...{ 'x-user-credential-1': 'one', 'x-user-credential-2': 'two' },
    'x-account-holding-institution-identifier': 'aps',
    'x-account-holding-institution-identifier-type': 'organisationid',
  };
  for (const [name, value] of Object.entries(expected)) assert.equal(sent.headers[name], value, name);
});

test('a retry has the same key and the same bytes', async () => {
  await start('close');
  await start('close');
  const [first, second] = server.received;
  assert.equal(first?.body, second?.body);
  assert.equal(first?.headers['x-correlationid'], second?.headers['x-correlationid']);
});

test('202 waits for the payer, and a server that wants polling is polled at once', async () => {
  const waiting = await start([202, requestState()]);
  assert.ok(waiting?.state === 'awaiting_payer');
  assert.deepEqual(waiting.handles, { request: 'S1', poll_limit: '2' });
  assert.deepEqual(lines(), ['POST /transactions/type/merchantpay']);
  server.received = [];
  const state = requestState({ notificationMethod: 'polling' });
  const done = requestState({ status: 'completed', objectReference: 'T1' });
  assert.equal((await start([202, state], [200, done], [200, transaction()]))?.state, 'succeeded');
  assert.deepEqual(lines().slice(1), ['GET /requeststates/S1', 'GET /transactions/T1']);
});

test('a poll that fails takes an acceptance back neither for collections nor for payouts', async () => {
  const polling = requestState({ notificationMethod: 'polling', serverCorrelationId: 'S2' });
  assert.equal((await start([202, polling], [500, {}]))?.state, 'awaiting_payer');
  const another = requestState({ notificationMethod: 'polling', serverCorrelationId: 'S3' });
  assert.equal((await payOut([202, another], 'close'))?.state, 'processing');
});

test('a request is polled up to its limit, by whichever process, and then found by its own key', async () => {
  const handles = { request: 'S4', poll_limit: '3' };
  const state: ScriptedReply = [200, requestState({ serverCorrelationId: 'S4' })];
  for (const earlier of [0, 1])
    assert.equal((await lookUpOnSchedule(earlier, handles, state))?.state, 'awaiting_payer');
  // One poll was made at once, so the limit is reached.
  const pending = await lookUpOnSchedule(2, handles, [200, { link: '/requeststates/S4' }]);
  assert.equal(pending?.state, 'awaiting_payer', 'what would be one poll too many is not read');
  assert.equal((await lookUp(handles, [200, { link: '/transactions/T1' }], [200, transaction()]))?.state, 'succeeded');
  const own = `GET /responses/${correlationId(reference)}`;
  assert.deepEqual(lines(), ['GET /requeststates/S4', 'GET /requeststates/S4', own, own, 'GET /transactions/T1']);
  server.received = [];
  assert.equal((await lookUp({ request: 'S5' }, state))?.state, 'awaiting_payer');
  assert.deepEqual(lines(), ['GET /requeststates/S5'], 'without a limit every look-up polls');
});

test('after a lost response the own key finds the transaction, or that nothing was created', async () => {
  assert.equal((await start('close'))?.state, 'unknown');
  assert.equal(
    (await lookUp({}, [200, { link: 'https://else.example/mm/transactions/T1' }], [200, transaction()]))?.state,
    'succeeded',
  );
  assert.equal((await lookUp({}, [404, error('identification', 'identifierError')]))?.state, 'not_found');
  for (const link of ['https://else.example/steal', '/transactions/../x', '/transactions/a b', 7]) {
    assert.equal((await lookUp({}, [200, { link }]))?.state, 'unknown', String(link));
  }
});

test('duplicateRequest retrieves the original, with either spelling of the description', async () => {
  for (const spelling of ['errorDescription', 'errordescription']) {
    const duplicate = error('businessRule', 'duplicateRequest', spelling);
    const found = await payOut(
      [400, duplicate],
      [200, { link: '/transactions/T1' }],
      [200, transaction({ type: 'disbursement' })],
    );
    assert.equal(found?.state, 'succeeded', spelling);
  }
  const missing = await payOut(
    [400, error('businessRule', 'duplicateRequest')],
    [404, error('identification', 'identifierError')],
  );
  assert.equal(missing?.state, 'unknown');
});

for (const [status, category, code, collected, paidOut] of [
  [400, 'businessRule', 'insufficientFunds', 'insufficient_funds', 'float_empty'],
  [400, 'businessRule', 'dailyValueLimitExceeded', 'limit_exceeded', 'limit_exceeded'],
  [400, 'businessRule', 'monthlyVolumeLimitExceeded', 'limit_exceeded', 'limit_exceeded'],
  [400, 'businessRule', 'accountMaxTotalValueExceeded', 'limit_exceeded', 'limit_exceeded'],
  [400, 'businessRule', 'lessThanTransactionMinValue', 'limit_exceeded', 'limit_exceeded'],
  [400, 'businessRule', 'greaterThanTransactionMaxValue', 'limit_exceeded', 'limit_exceeded'],
  [400, 'businessRule', 'maxBalanceExceeded', 'limit_exceeded', 'limit_exceeded'],
  [400, 'businessRule', 'samePartiesError', 'refused_by_network', 'refused_by_network'],
  [400, 'businessRule', 'incorrectState', 'refused_by_network', 'refused_by_network'],
  [400, 'businessRule', 'underPaymentNotAllowed', 'refused_by_network', 'refused_by_network'],
  [400, 'businessRule', 'overPaymentNotAllowed', 'refused_by_network', 'refused_by_network'],
  [400, 'businessRule', 'transactionTypeError', 'refused_by_network', 'refused_by_network'],
  [400, 'businessRule', 'noMandateAuthority', 'refused_by_network', 'refused_by_network'],
  [400, 'businessRule', 'quoteHasExpired', 'refused_by_network', 'refused_by_network'],
  [400, 'businessRule', 'rateLimitError', 'network_unavailable', 'network_unavailable'],
  [400, 'businessRule', 'accountBlocked', 'account_blocked', 'account_blocked'],
  [400, 'businessRule', 'aNewCode', 'unknown', 'unknown'],
  [400, 'validation', 'formatError', 'refused_by_network', 'refused_by_network'],
  [401, 'authorisation', 'requestDeclined', 'declined_by_payer', 'declined_by_payer'],
  [401, 'authorisation', 'clientAuthorisationError', 'network_unavailable', 'network_unavailable'],
  [404, 'identification', 'identifierError', 'account_not_found', 'account_not_found'],
  [500, 'internal', 'genericError', 'unknown', 'unknown'],
  [503, 'serviceUnavailable', 'genericError', 'network_unavailable', 'network_unavailable'],
  [502, 'serviceUnavailable', 'genericError', 'unknown', 'unknown'],
  [503, 'else', 'genericError', 'unknown', 'unknown'],
] as const) {
  test(`${status} ${category} ${code}: a collection is ${collected}, a payout ${paidOut}`, async () => {
    const one = await start([status, error(category, code)]);
    assert.equal(one?.state === 'refused' ? one.failure.code : one?.state, collected);
    const other = await payOut([status, error(category, code)]);
    const meaning = other?.state === 'not_accepted' ? other.reason : other?.state;
    assert.equal(other?.state === 'refused' ? other.failure.code : meaning, paidOut);
  });
}

test('what is not as documented is unknown, and never final', async () => {
  const faults: [string, ScriptedReply][] = [
    ['no JSON', [201, '<html>']],
    ['no object', [201, '[]']],
    ['503 of a proxy', [503, '<html>']],
    ['an unmapped status', [201, transaction({ transactionStatus: 'on_hold' })]],
    ['a name of Object', [201, transaction({ transactionStatus: 'constructor' })]],
    ['another reference', [201, transaction({ requestingOrganisationTransactionReference: 'Other' })]],
    ['another type', [201, transaction({ type: 'transfer' })]],
    ['no id', [201, transaction({ transactionReference: '' })]],
    ['no amount', [201, transaction({ amount: undefined })]],
    ['a negative amount', [201, transaction({ amount: '-1' })]],
    ['an amount of no money', [201, transaction({ amount: '1.001' })]],
    ['a number as amount', [201, transaction({ amount: 450.5 })]],
    ['no currency', [201, transaction({ currency: null })]],
    ['an unknown state', [202, requestState({ status: 'odd' })]],
    ['200', [200, transaction()]],
  ];
  for (const [fault, reply] of faults) {
    assert.equal((await start(reply))?.state, 'unknown', fault);
    assert.equal((await payOut(reply))?.state, 'unknown', fault);
  }
  assert.equal(
    (await lookUp({ transaction: 'T1' }, [404, error('identification', 'identifierError')]))?.state,
    'unknown',
  );
});

test('statuses and amounts are read as configured', async () => {
  assert.equal((await start([201, transaction({ transactionStatus: 'Pending' })]))?.state, 'awaiting_payer');
  assert.equal(
    (await lookUp({ transaction: 'T1' }, [200, transaction({ transactionStatus: 'reversed' })]))?.state,
    'reversed',
  );
  const declined = await start([201, transaction({ transactionStatus: 'declined' })]);
  assert.ok(declined?.state === 'refused' && declined.failure.code === 'declined_by_payer');
  for (const [text, minor] of [
    ['450', 45_000n],
    ['450.5', 45_050n],
    ['450.5000', 45_050n],
  ] as const) {
    const paid = await start([201, transaction({ amount: text })]);
    assert.ok(paid?.state === 'succeeded' && paid.providerTransaction.amountMinor === minor, text);
  }
});

test('fees are deducted from us only where the account says so', () => {
  const body = transaction({ fees: [{ feeAmount: '4.50', feeCurrency: 'GMD' }] }) as JsonObject;
  for (const [fees, minor] of [
    ['theirs', 0n],
    ['ours', 450n],
  ] as const) {
    const configuration = readGsmaConfiguration({ ...gsmaSettings, fees });
    const read = readLookUp({ kind: 'response', status: 200, body }, { configuration, reference, type: 'merchantpay' });
    assert.equal(read.kind === 'succeeded' && read.transaction.networkFeeMinor, minor);
  }
});

test('a request that the server reports as failed has ended, whatever its error is', async () => {
  for (const [body, code] of [
    [error('authorisation', 'requestDeclined'), 'declined_by_payer'],
    [error('businessRule', 'insufficientFunds'), 'insufficient_funds'],
    [error('internal', 'genericError'), 'refused_by_network'],
    [undefined, 'refused_by_network'],
  ] as const) {
    const failed = await start([202, requestState({ status: 'failed', error: body })]);
    assert.ok(failed?.state === 'refused' && failed.failure.code === code, code);
  }
});

test('a refund reverses the transaction, in part with its amount', async () => {
  server.replies = [[201, transaction({ type: 'reversal', transactionReference: 'T2' })]];
  const refunded = await aps.refunds?.start(refund);
  assert.equal(refunded?.state, 'succeeded');
  assert.deepEqual(lines(), ['POST /transactions/T1/reversals']);
  assert.deepEqual(JSON.parse(server.received[0]?.body ?? ''), {
    ...{ type: 'reversal', amount: '450.50', currency: 'GMD', descriptionText: 'Back' },
    requestingOrganisationTransactionReference: reference,
  });
});

test('a callback is only a hint, and one without a known subject is malformed', () => {
  const read = (query: Record<string, string>) =>
    aps.readCallback({
      headers: {},
      query,
      body: Buffer.from('{"transactionStatus":"completed"}'),
      receivedAt: clock.now(),
    });
  assert.deepEqual(read({ reference, operation: 'payout' }), {
    accepted: true,
    notifications: [{ operation: 'payout', reference, response: null }],
  });
  for (const query of [{}, { reference }, { reference, operation: 'else' }]) {
    assert.deepEqual(read(query as Record<string, string>), { accepted: false, reason: 'malformed' });
  }
});

test('the heartbeat is a request about nothing of a merchant’s', async () => {
  server.replies = [[200, { serviceStatus: 'available' }]];
  assert.equal((await aps.heartbeat()).kind, 'response');
  assert.deepEqual(lines(), ['GET /heartbeat']);
});

test('a wrong setting is named', () => {
  assert.throws(() => readGsmaConfiguration({ ...gsmaSettings, fees: 'x' }), /\/fees/);
  assert.throws(
    () => readGsmaConfiguration({ ...gsmaSettings, statuses: { completed: 'paid' } }),
    /\/statuses\/completed/,
  );
  assert.throws(() => readGsmaConfiguration({ ...gsmaSettings, more: 1 }), /\/more/);
  assert.throws(() => readGsmaConfiguration(null), /configuration/);
});
