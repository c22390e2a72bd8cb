import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { ManualClock } from '../../../../test/harness/manual-clock.ts';
import type { StartCollection, StartPayout, StartRefund } from '../contract.ts';
import { ScriptedServer, type ScriptedReply } from '../scripted-server.corpus.ts';
import { createWaveConnector, type WaveConnector } from './connector.ts';
import { waveOptions } from './options.ts';
import { signWave } from './signature.ts';

const reference = 'Shop1234reference0000000000001';
const url = 'https://pay.wave.com/c/cos-1';
const callbackUrl = 'http://localhost/networks/wave-main/callbacks';
const server = new ScriptedServer();
const clock = new ManualClock();
let wave: WaveConnector;
let plain: WaveConnector;

before(async () => {
  const baseUrl = await server.start();
  const account = {
    baseUrl: () => baseUrl,
    ...{ clock, callTimeoutMs: 3_000, railAccount: 'wave-main', testMode: false, merchantId: null },
    webhookSecrets: { signing: ['webhooks'], shared: [] },
  };
  wave = createWaveConnector({
    ...account,
    credentialsFor: () => ({ apiKey: 'key', signingSecret: 'secret' }),
    options: waveOptions({ amounts: 'bututs', restrictPayer: true, cancelledSession: 'declined_by_payer' }),
  });
  plain = createWaveConnector({
    ...account,
    credentialsFor: () => ({ apiKey: 'key', signingSecret: null }),
    options: waveOptions({ numberDigits: 'old' }),
  });
});

beforeEach(() => server.reset());

after(async () => {
  await wave.close();
  await plain.close();
  server.close();
});

const request: StartCollection = {
  ...{ reference, amountMinor: 45_050n, currency: 'GMD', payerNumber: '+220877000001', payerNumberAsSent: '7000001' },
  ...{ description: 'Rice', expiresAt: new Date(0), returnUrl: 'https://shop.example/back' },
  callbackUrl,
};
const payout: StartPayout = {
  ...{ reference, amountMinor: 10_000n, currency: 'GMD', description: 'Kairaba Bookshop: wages of all weeks of May' },
  ...{ beneficiaryNumber: '+220877000001', beneficiaryNumberAsSent: '7000001', beneficiaryName: 'Awa Ceesay' },
  callbackUrl,
};
const refund: StartRefund = {
  ...{
    reference,
    originalTransactionId: 'T_1',
    amountMinor: 45_050n,
    currency: 'GMD',
    description: 'Back',
    callbackUrl,
  },
};

const session = (changes: Record<string, unknown> = {}) => ({
  ...{ id: 'cos-1', client_reference: reference, amount: '450.5', currency: 'GMD', wave_launch_url: url },
  ...{ checkout_status: 'open', payment_status: 'processing', transaction_id: null, ...changes },
});
const paid = (changes: Record<string, unknown> = {}) =>
  session({ checkout_status: 'complete', payment_status: 'succeeded', transaction_id: 'T_1', ...changes });
const payoutAt = (status: string, changes: Record<string, unknown> = {}) => ({
  ...{ id: 'pt-1', client_reference: reference, receive_amount: '100', currency: 'GMD', fee: '1', status, ...changes },
});
const page = (...items: Record<string, unknown>[]) => ({
  page_info: { has_next_page: false, end_cursor: null },
  items,
});
const line = (changes: Record<string, unknown>) => ({
  ...{ transaction_id: 'T_9', transaction_type: 'api_checkout', timestamp: '2026-11-20T10:00:00Z', amount: '-450.5' },
  ...{ fee: '0', currency: 'GMD', is_reversal: true, checkout_api_session_id: 'cos-1', ...changes },
});
const replying = (...replies: ScriptedReply[]) => (server.replies = replies);
const lines = () => server.received.map((received) => received.line);
const start = (...replies: ScriptedReply[]) => {
  replying(...replies);
  return wave.collections.start(request);
};
const withId: Record<string, string> = { session_id: 'cos-1' };
const lookUp = (reply: ScriptedReply, handles = withId) => {
  replying(reply);
  return wave.collections.lookUp({ reference, handles });
};
const send = (...replies: ScriptedReply[]) => {
  replying(...replies);
  return wave.payouts.start(payout);
};
const refundNow = (...replies: ScriptedReply[]) => {
  replying(...replies);
  return wave.refunds.start(refund);
};
/** The state, and the failure where there is one. */
const outcome = (response: { state: string; failure?: { code: string }; reason?: string }) =>
  response.failure?.code ?? response.reason ?? response.state;

test('a session has the documented fields only; its signature covers time and body without a separator', async () => {
  const response = await start([200, session()]);
  assert.deepEqual(response, {
    ...{ state: 'awaiting_payer', nextAction: { type: 'open_url', url }, networkReference: 'cos-1' },
    handles: { session_id: 'cos-1' },
  });
  const [sent] = server.received;
  assert.equal(sent?.line, 'POST /v1/checkout/sessions');
  assert.deepEqual(JSON.parse(sent.body), {
    ...{ amount: '450.50', currency: 'GMD', client_reference: reference },
    ...{ success_url: request.returnUrl, error_url: request.returnUrl, restrict_payer_mobile: '+220877000001' },
  });
  assert.equal(sent.headers.authorization, 'Bearer key');
  assert.equal(sent.headers['wave-signature'], signWave('secret', { sentAt: clock.now(), body: sent.body }));
  replying([200, session()]);
  await wave.collections.lookUp({ reference, handles: { session_id: 'cos-1' } });
  const signed = signWave('secret', { sentAt: clock.now(), body: '' });
  assert.equal(server.received[1]?.headers['wave-signature'], signed, 'a GET is signed over nothing but the time');
});

test('an account without signatures sends none, whole dalasi have no decimals, old numbers seven digits', async () => {
  replying([200, session()], [200, payoutAt('processing')]);
  await plain.collections.start({ ...request, amountMinor: 45_000n });
  await plain.payouts.start(payout);
  const [first, second] = server.received;
  assert.equal(first?.headers['wave-signature'], undefined);
  assert.deepEqual(
    [plain.collections.capabilities.amountStepMinor, JSON.parse(first?.body ?? '')],
    [
      100n,
      {
        ...{ amount: '450', currency: 'GMD', client_reference: reference },
        ...{ success_url: request.returnUrl, error_url: request.returnUrl },
      },
    ],
  );
  assert.equal((JSON.parse(second?.body ?? '') as { mobile: string }).mobile, '+2207000001');
});

test('each documented pair of statuses has its meaning, and every other pair is unknown', async () => {
  const error = (code: string) => ({ last_payment_error: { code, message: 'No.' } });
  for (const [changes, expected] of [
    [{}, 'awaiting_payer'],
    [{ payment_status: 'cancelled', ...error('insufficient-funds') }, 'awaiting_payer'],
    [{ payment_status: 'failed' }, 'awaiting_payer'],
    [{ checkout_status: 'expired' }, 'expired'],
    [{ checkout_status: 'expired', payment_status: 'cancelled' }, 'declined_by_payer'],
    [{ checkout_status: 'expired', ...error('insufficient-funds') }, 'insufficient_funds'],
    [{ checkout_status: 'expired', ...error('blocked-account') }, 'account_blocked'],
    [{ checkout_status: 'expired', ...error('kyb-limits-exceeded') }, 'limit_exceeded'],
    [{ checkout_status: 'expired', ...error('payer-mobile-mismatch') }, 'refused_by_network'],
    [{ checkout_status: 'expired', ...error('cross-border-payment-not-allowed') }, 'refused_by_network'],
    [{ checkout_status: 'expired', ...error('customer-age-restricted') }, 'refused_by_network'],
    [{ checkout_status: 'expired', ...error('payment-failure') }, 'refused_by_network'],
    [{ checkout_status: 'expired', ...error('something-new') }, 'expired'],
    [{ payment_status: 'succeeded' }, 'unknown'],
    [{ checkout_status: 'complete' }, 'unknown'],
    [{ checkout_status: 'expired', payment_status: 'succeeded' }, 'unknown'],
    [{ checkout_status: 'on_hold' }, 'unknown'],
    [{ payment_status: 'constructor' }, 'unknown'],
    [{ client_reference: 'Other' }, 'unknown'],
    [{ id: null }, 'unknown'],
    [{ wave_launch_url: 'javascript:alert(1)' }, 'unknown'],
  ] as const) {
    assert.equal(outcome(await lookUp([200, session(changes)])), expected, JSON.stringify(changes));
  }
});

test('a paid session is read as it is: any amount and currency, but no malformed one', async () => {
  const response = await lookUp([200, paid({ amount: '451', currency: 'XOF', restrict_payer_mobile: '+2207000001' })]);
  assert.deepEqual(response.state === 'succeeded' && response.providerTransaction, {
    ...{ transactionId: 'T_1', networkReference: 'cos-1', amountMinor: 45_100n, currency: 'XOF' },
    ...{ networkFeeMinor: 0n, payerNumber: '+2207000001' },
  });
  for (const changes of [{ amount: 450 }, { amount: '-1' }, { amount: '1.005' }, { transaction_id: null }]) {
    assert.equal((await lookUp([200, paid(changes)])).state, 'unknown', JSON.stringify(changes));
  }
});

test('only documented errors end a collection, in each of the shapes that Wave’s bodies have', async () => {
  for (const [reply, expected] of [
    [[401, { code: 'no-matching-api-key' }], 'network_unavailable'],
    [[403, { error: 'ip-not-allowed', message: 'No.' }], 'network_unavailable'],
    [[429, { error_code: 'too-many-requests' }], 'network_unavailable'],
    [[503, { code: 'service-unavailable' }], 'network_unavailable'],
    [[400, { error: { code: 'request-validation-error', httpcode: 400 } }], 'refused_by_network'],
    [[422, { code: 'currency-mismatch' }], 'refused_by_network'],
    [[422, { code: 'something-new' }], 'unknown'],
    [[500, { code: 'internal-server-error' }], 'unknown'],
    [[503, '<html>down</html>'], 'unknown'],
    [[403, '<html>proxy</html>'], 'unknown'],
    [[200, '<html>welcome</html>'], 'unknown'],
    [[200, []], 'unknown'],
    ['close', 'unknown'],
  ] as [ScriptedReply, string][]) {
    assert.equal(outcome(await start(reply)), expected, JSON.stringify(reply));
  }
  for (const [reply, expected] of [
    [[404, { code: 'checkout-session-not-found' }], 'not_found'],
    [[404, '<html>'], 'unknown'],
    [[401, { code: 'api-key-revoked' }], 'unknown'],
    [[429, { code: 'too-many-requests' }], 'unknown'],
    ['close', 'unknown'],
  ] as [ScriptedReply, string][]) {
    assert.equal(outcome(await lookUp(reply)), expected, JSON.stringify(reply));
  }
});

test('after a lost response a search finds the session; a spare one is expired, a paid one wins', async () => {
  assert.equal((await lookUp([200, { result: [] }], {})).state, 'not_found');
  assert.equal(lines()[0], `GET /v1/checkout/sessions/search?client_reference=${reference}`);
  assert.equal((await lookUp([200, { result: 'none' }], {})).state, 'unknown');
  assert.equal((await lookUp([404, { code: 'not-found' }], {})).state, 'unknown');
  server.reset();
  replying([200, { result: [session({ id: 'cos-2' }), paid(), session({ id: 'cos-3' })] }], [200, ''], [409, {}]);
  const found = await wave.collections.lookUp({ reference, handles: {} });
  assert.equal(found.state, 'succeeded');
  assert.deepEqual(lines().slice(1).toSorted(), [
    'POST /v1/checkout/sessions/cos-2/expire',
    'POST /v1/checkout/sessions/cos-3/expire',
  ]);
});

test('a cancellation expires the session and looks once more, because the payer may have been faster', async () => {
  const cancel = (...replies: ScriptedReply[]) => {
    server.reset();
    replying(...replies);
    return wave.collections.cancel({ reference, handles: { session_id: 'cos-1' } });
  };
  const ended = session({ checkout_status: 'expired', payment_status: 'cancelled' });
  assert.equal(outcome(await cancel([200, ''], [200, ended])), 'cancelled');
  assert.deepEqual(lines(), ['POST /v1/checkout/sessions/cos-1/expire', 'GET /v1/checkout/sessions/cos-1']);
  assert.equal(server.received[0]?.headers['content-type'], undefined, 'without a body');
  assert.equal((await cancel([409, { code: 'checkout-session-complete' }], [200, paid()])).state, 'succeeded');
  assert.equal(outcome(await cancel([409, {}], [200, session({ checkout_status: 'expired' })])), 'expired');
  assert.equal((await cancel([404, { code: 'checkout-session-not-found' }])).state, 'not_found');
  assert.equal((await cancel('close')).state, 'unknown');
  replying([200, { result: [] }]);
  assert.equal((await wave.collections.cancel({ reference, handles: {} })).state, 'not_found');
});

test('a reversed payment is found on the statement of its day, over all pages', async () => {
  const recheck = (...replies: ScriptedReply[]) => {
    server.reset();
    replying(...replies);
    return wave.collections.lookUp({ reference, handles: { session_id: 'cos-1' }, hasSucceeded: true });
  };
  const more = {
    ...page(line({ checkout_api_session_id: 'cos-2' })),
    page_info: { has_next_page: true, end_cursor: 'c' },
  };
  const reversed = await recheck([200, paid()], [200, more], [200, page(line({}))]);
  assert.ok(reversed.state === 'reversed' && reversed.reversalId === 'T_9');
  assert.equal(reversed.providerTransaction.transactionId, 'T_1');
  const day = clock.now().toISOString().slice(0, 10);
  assert.deepEqual(lines().slice(1), [`GET /v1/transactions?date=${day}`, `GET /v1/transactions?date=${day}&after=c`]);
  const empty: ScriptedReply = [200, page(line({ is_reversal: false }), line({ transaction_type: 'api_payout' }))];
  assert.equal((await recheck([200, paid()], empty, empty, empty, empty)).state, 'succeeded');
  assert.equal((await recheck([200, paid()], [200, page(line({ amount: 450 }))])).state, 'unknown');
  assert.equal((await recheck([200, paid()], 'close')).state, 'unknown');
});

test('a payout has the documented fields and one key; its statuses and errors have their meaning', async () => {
  const succeeded = await send([200, payoutAt('succeeded')]);
  assert.deepEqual(succeeded.state === 'succeeded' && succeeded.providerTransaction, {
    ...{ transactionId: 'pt-1', networkReference: 'pt-1', amountMinor: 10_000n, currency: 'GMD' },
    networkFeeMinor: 100n,
  });
  const [sent] = server.received;
  assert.equal(sent?.line, 'POST /v1/payout');
  assert.equal(sent.headers['idempotency-key'], reference);
  assert.deepEqual(JSON.parse(sent.body), {
    ...{ currency: 'GMD', receive_amount: '100', mobile: '+220877000001', name: 'Awa Ceesay' },
    ...{ client_reference: reference, payment_reason: 'Kairaba Bookshop: wages of all weeks of ' },
  });
  const failed = (code: string) => payoutAt('failed', { payout_error: { error_code: code, error_message: 'No.' } });
  for (const [reply, expected] of [
    [[200, payoutAt('processing')], 'processing'],
    [[200, payoutAt('reversed')], 'reversed'],
    [[200, failed('recipient-account-blocked')], 'account_blocked'],
    [[200, failed('something-new')], 'refused_by_network'],
    [[200, payoutAt('on_hold')], 'unknown'],
    [[200, payoutAt('succeeded', { receive_amount: '1e2' })], 'unknown'],
    [[422, { code: 'recipient-account-inactive' }], 'account_not_found'],
    [[422, { code: 'recipient-limit-exceeded' }], 'limit_exceeded'],
    [[422, { code: 'recipient-minor' }], 'refused_by_network'],
    [[400, { code: 'country-mismatch' }], 'refused_by_network'],
    [[422, { code: 'insufficient-funds' }], 'float_empty'],
    [[401, { code: 'api-key-revoked' }], 'network_unavailable'],
    [[429, { code: 'too-many-requests' }], 'network_unavailable'],
    [[409, { code: 'idempotency-mismatch' }], 'unknown'],
    [[408, { code: 'request-timeout' }], 'unknown'],
    [[503, { code: 'service-unavailable' }], 'unknown'],
    [[500, { code: 'recipient-minor' }], 'unknown'],
    ['close', 'unknown'],
  ] as [ScriptedReply, string][]) {
    assert.equal(outcome(await send(reply)), expected, JSON.stringify(reply));
  }
});

test('a payout is looked up by its id, or by our reference after a lost response', async () => {
  replying([200, payoutAt('succeeded')], [200, { result: [payoutAt('succeeded')] }], [200, { result: [] }]);
  const byId = await wave.payouts.lookUp({ reference, handles: { payout_id: 'pt-1' } });
  const byReference = await wave.payouts.lookUp({ reference, handles: {} });
  assert.deepEqual([byId.state, byReference], ['succeeded', byId]);
  assert.equal((await wave.payouts.lookUp({ reference, handles: {} })).state, 'not_found');
  assert.deepEqual(lines().slice(0, 2), [
    'GET /v1/payout/pt-1',
    `GET /v1/payouts/search?client_reference=${reference}`,
  ]);
});

test('a refund is of the whole session, and its look-up repeats the request, which Wave does not repeat', async () => {
  const done = await refundNow([200, paid()], [200, '']);
  assert.deepEqual(done, {
    state: 'succeeded',
    providerTransaction: {
      ...{ transactionId: 'cos-1-refund', networkReference: 'cos-1', amountMinor: 45_050n, currency: 'GMD' },
      networkFeeMinor: 0n,
    },
  });
  assert.deepEqual(lines(), [
    'GET /v1/checkout/sessions?transaction_id=T_1',
    'POST /v1/checkout/sessions/cos-1/refund',
  ]);
  for (const [replies, expected] of [
    [[[200, paid({ amount: '450' })]], 'refused_by_network'],
    [[[404, { code: 'checkout-session-not-found' }]], 'refused_by_network'],
    [['close'], 'network_unavailable'],
    [[[200, paid({ transaction_id: 'T_2' })]], 'unknown'],
    [
      [
        [200, paid()],
        [400, { code: 'checkout-refund-failed' }],
      ],
      'refused_by_network',
    ],
    [
      [
        [200, paid()],
        [422, { code: 'insufficient-funds' }],
      ],
      'float_empty',
    ],
    [
      [
        [200, paid()],
        [500, { code: 'internal-server-error' }],
      ],
      'unknown',
    ],
    [
      [
        [200, paid()],
        [200, {}],
      ],
      'succeeded',
    ],
    [
      [
        [200, paid()],
        [200, '<html>'],
      ],
      'unknown',
    ],
    [[[200, paid()], 'close'], 'unknown'],
  ] as [ScriptedReply[], string][]) {
    assert.equal(outcome(await refundNow(...replies)), expected, JSON.stringify(replies));
  }
  const question = { reference, handles: {}, originalTransactionId: 'T_1' };
  replying([200, { result: [paid()] }], [200, '']);
  assert.deepEqual(await wave.refunds.lookUp(question), done);
  server.reset();
  replying([200, paid()], [200, page(line({ transaction_type: 'api_checkout_refund', amount: '450.5' }))]);
  assert.equal((await wave.refunds.lookUp({ ...question, hasSucceeded: true })).state, 'reversed');
  const isLook = lines().every((one) => one.startsWith('GET '));
  assert.ok(isLook, 'a look after the success sends no refund');
  const refusedAgain: ScriptedReply = [429, { code: 'too-many-requests' }];
  replying([200, paid()], refusedAgain);
  assert.equal((await wave.refunds.lookUp(question)).state, 'unknown', 'the first request may have been accepted');
  server.reset();
  replying([200, paid()], [200, '']);
  assert.equal((await wave.refunds.lookUp({ ...question, hasSucceeded: false })).state, 'not_found');
  assert.deepEqual(lines(), [], 'a refund that has ended is not sent again');
});
