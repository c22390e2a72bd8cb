import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ManualClock } from '../../../../test/harness/manual-clock.ts';
import type { PayoutBatch, StartPayout } from '../contract.ts';
import { ScriptedServer, type ScriptedReply } from '../scripted-server.corpus.ts';
import { createWaveConnector, type WaveConnector } from './connector.ts';
import { waveOptions } from './options.ts';

const reference = 'Shop1234reference0000000000001';
const server = new ScriptedServer();
let wave: WaveConnector;

before(async () => {
  const baseUrl = await server.start();
  wave = createWaveConnector({
    baseUrl: () => baseUrl,
    ...{ clock: new ManualClock(), callTimeoutMs: 3_000, railAccount: 'wave-main', testMode: false, merchantId: null },
    webhookSecrets: { signing: [], shared: [] },
    credentialsFor: () => ({ apiKey: 'key', signingSecret: 'secret' }),
    options: waveOptions({ batches: true }),
  });
});

after(async () => {
  await wave.close();
  server.close();
});

const payout: StartPayout = {
  ...{ reference, amountMinor: 10_000n, currency: 'GMD', description: 'Kairaba Bookshop: wages' },
  ...{ beneficiaryNumber: '+220877000001', beneficiaryNumberAsSent: '7000001', beneficiaryName: 'Awa Ceesay' },
  callbackUrl: 'http://localhost/networks/wave-main/callbacks',
};
const payoutAt = (status: string, changes: Record<string, unknown> = {}) => ({
  ...{ id: 'pt-1', client_reference: reference, receive_amount: '100', currency: 'GMD', fee: '1', status, ...changes },
});
const replying = (...replies: ScriptedReply[]): void => {
  server.received.length = 0;
  server.replies = replies;
};
/** The state, and why where it says so. */
const outcome = (response: { state: string; failure?: { code: string }; reason?: string }) =>
  response.failure?.code ?? response.reason ?? response.state;

test('a batch has the documented fields and a key of its own; only documented errors refuse it', async () => {
  const startBatch = (batch: PayoutBatch) => wave.payouts.startBatch?.(batch) ?? assert.fail();
  const batch = {
    reference: 'Shop1234batch0000000000000001',
    payouts: [payout, { ...payout, reference: 'Shop1234b' }],
  };
  const startWith = async (reply: ScriptedReply) => {
    replying(reply);
    return startBatch(batch);
  };
  const accepted = await startWith([200, { id: 'pb-1' }]);
  assert.deepEqual(accepted, { state: 'accepted', networkReference: 'pb-1', handles: { batch_id: 'pb-1' } });
  const [sent] = server.received;
  assert.equal(sent?.line, 'POST /v1/payout-batch');
  assert.equal(sent.headers['idempotency-key'], batch.reference);
  const { payouts, ...rest } = JSON.parse(sent.body) as { payouts: Record<string, unknown>[] };
  assert.deepEqual([rest, payouts.map((each) => each['client_reference'])], [{}, [reference, 'Shop1234b']]);
  replying([200, payoutAt('processing')]);
  await wave.payouts.start(payout);
  assert.deepEqual(payouts[0], JSON.parse(server.received[0]?.body ?? ''), 'as a payout that is sent alone');
  for (const [reply, expected] of [
    [[200, { id: 7 }], 'unknown'],
    [[200, []], 'unknown'],
    [[401, { code: 'no-matching-api-key' }], 'network_unavailable'],
    [[429, { code: 'too-many-requests' }], 'network_unavailable'],
    [[422, { code: 'request-validation-error' }], 'refused'],
    [[422, { code: 'insufficient-funds' }], 'refused'],
    [[422, { code: 'recipient-account-blocked' }], 'refused'],
    [[404, { code: 'not-found' }], 'refused'],
    [[404, '<html>no such page</html>'], 'unknown'],
    [[409, { code: 'idempotency-mismatch' }], 'unknown'],
    [[422, { code: 'something-new' }], 'unknown'],
    [[408, { code: 'timeout' }], 'unknown'],
    [[503, { code: 'service-unavailable' }], 'unknown'],
  ] as [ScriptedReply, string][]) {
    const response = await startWith(reply);
    assert.equal('reason' in response ? response.reason : response.state, expected, JSON.stringify(reply));
  }
});

test('a payout of a batch is what the batch shows of it, else what a search finds; complete is no proof', async () => {
  const handles = { batch_id: 'pb-1' };
  const lookUpIn = async (...replies: ScriptedReply[]) => {
    replying(...replies);
    return outcome(await wave.payouts.lookUp({ reference, handles }));
  };
  const batchWith = (status: string, ...payouts: unknown[]): ScriptedReply => [200, { id: 'pb-1', status, payouts }];
  const failed = (code: string) => payoutAt('failed', { payout_error: { error_code: code, error_message: 'No.' } });
  const other = payoutAt('failed', { client_reference: 'Other' });
  assert.equal(await lookUpIn(batchWith('complete', other, payoutAt('succeeded'))), 'succeeded');
  assert.equal(server.received[0]?.line, 'GET /v1/payout-batch/pb-1');
  for (const [reply, expected] of [
    [batchWith('processing', payoutAt('succeeded')), 'succeeded'],
    [batchWith('processing', payoutAt('processing')), 'processing'],
    [batchWith('processing'), 'processing'],
    [batchWith('complete', payoutAt('processing')), 'processing'],
    [batchWith('complete', failed('recipient-account-blocked')), 'account_blocked'],
    [batchWith('complete', failed('something-new')), 'refused_by_network'],
    [batchWith('complete', failed('insufficient-funds')), 'float_empty'],
    [batchWith('complete', payoutAt('on_hold')), 'unknown'],
    [batchWith('complete', payoutAt('succeeded'), payoutAt('succeeded')), 'unknown'],
  ] as [ScriptedReply, string][]) {
    assert.equal(await lookUpIn(reply), expected, JSON.stringify(reply));
    assert.equal(server.received.length, 1);
  }
  const nowhere: ScriptedReply = [200, { result: [] }];
  for (const reply of [batchWith('complete', other), batchWith('done'), [404, { code: 'not-found' }], [500, {}]]) {
    assert.equal(await lookUpIn(reply as ScriptedReply, nowhere), 'unknown', JSON.stringify(reply));
    assert.equal(await lookUpIn(reply as ScriptedReply, [200, { result: [payoutAt('succeeded')] }]), 'succeeded');
  }
});

test('a payout that its batch did not pay for want of money is not what a search for it finds', async () => {
  const unpaid = payoutAt('failed', { payout_error: { error_code: 'insufficient-funds' } });
  const found = async (...result: unknown[]) => {
    replying([200, { result }]);
    return (await wave.payouts.lookUp({ reference, handles: {} })).state;
  };
  assert.equal(await found(unpaid), 'not_found', 'the call that is to pay it may still arrive');
  assert.equal(await found(unpaid, payoutAt('succeeded')), 'succeeded');
  assert.equal(await found(payoutAt('succeeded'), payoutAt('succeeded')), 'unknown');
});

test('look-ups of payouts of one batch at the same time read it once', async () => {
  const one = payoutAt('succeeded');
  replying([
    200,
    { id: 'pb-1', status: 'complete', payouts: [one, { ...one, client_reference: 'Shop1234b', id: 'pt-2' }] },
  ]);
  const requests = [reference, 'Shop1234b'].map((each) => ({ reference: each, handles: { batch_id: 'pb-1' } }));
  const responses = await Promise.all(requests.map((request) => wave.payouts.lookUp(request)));
  assert.deepEqual(responses.map(outcome), ['succeeded', 'succeeded']);
  assert.equal(server.received.length, 1);
});
