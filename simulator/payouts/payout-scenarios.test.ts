import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { account, startSimulatedNetworks, type SimulatedNetworks } from '../../test/harness/simulated-networks.ts';
import { addMs } from '../../server/src/kit/clock.ts';
import type { PayoutResponse, PayoutTransaction, StartPayout } from '../../server/src/networks/contract.ts';

let networks: SimulatedNetworks;

before(async () => {
  networks = await startSimulatedNetworks();
});

after(async () => {
  await networks.close();
});

const allNetworks = ['wave', 'afrimoney', 'qmoney', 'aps'];

function start(request: StartPayout, network = 'aps'): Promise<PayoutResponse> {
  return networks.payouts(network).start(request);
}

/** Looks up by our reference, as after a start without a response. */
function lookUp(request: StartPayout, network = 'aps'): Promise<PayoutResponse> {
  return networks.payouts(network).lookUp({ reference: request.reference, handles: {} });
}

/** What we learn from the due callbacks, in order of arrival. */
function callbacksNow(network = 'aps'): Promise<PayoutResponse[]> {
  return networks.reportedPayouts(network);
}

function providerTransactionOf(response: PayoutResponse): PayoutTransaction {
  assert.ok(response.state === 'succeeded' || response.state === 'reversed', `no money moved: ${response.state}`);
  return response.providerTransaction;
}

function failureOf(response: PayoutResponse): string {
  assert.ok(response.state === 'refused', `not refused: ${response.state}`);
  return response.failure.code;
}

const down: PayoutResponse = { state: 'not_accepted', reason: 'network_unavailable' };
const floatEmpty: PayoutResponse = { state: 'not_accepted', reason: 'float_empty' };

/** Starts a payout without a response, and lets the connector time out. */
async function startAndTimeOut(request: StartPayout): Promise<PayoutResponse> {
  const response = start(request);
  await networks.untilStored(request);
  await networks.clock.advance(3_000);
  return response;
}

for (const network of allNetworks) {
  for (const number of ['+2207510001', '+2207512345']) {
    test(`a payout to …${number.slice(-4)} on ${network} is completed at once, whole and without a fee`, async () => {
      const request = networks.payoutRequest(number);
      const response = await start(request, network);
      assert.equal(response.state, 'succeeded');
      const providerTransaction = providerTransactionOf(response);
      assert.equal(providerTransaction.amountMinor, 10_000n);
      assert.equal(providerTransaction.currency, 'GMD');
      assert.equal(providerTransaction.networkFeeMinor, 0n);
      assert.deepEqual(await callbacksNow(network), [], 'the response says it');
      assert.deepEqual(await lookUp(request, network), response);
      const handles = { payout_id: providerTransaction.networkReference };
      assert.deepEqual(await networks.payouts(network).lookUp({ reference: request.reference, handles }), response);
    });
  }
}

test('two payouts never share a transaction id', async () => {
  const first = providerTransactionOf(await start(networks.payoutRequest('+2207510001')));
  const second = providerTransactionOf(await start(networks.payoutRequest('+2207510001')));
  assert.notEqual(first.transactionId, second.transactionId);
  await callbacksNow();
});

for (const [ending, code] of [
  ['0002', 'account_not_found'],
  ['0003', 'account_blocked'],
] as const) {
  test(`${ending} is refused: ${code}`, async () => {
    const request = networks.payoutRequest(`+220751${ending}`);
    assert.equal(failureOf(await start(request)), code);
    assert.deepEqual(await callbacksNow(), [], 'the response says it');
    assert.equal(failureOf(await lookUp(request)), code);
    assert.equal(failureOf(await start(request)), code, 'and stays so when it is sent again');
  });
}

test('0004 stays pending for ever, and is never reported', async () => {
  const request = networks.payoutRequest('+2207510004');
  assert.equal((await start(request)).state, 'processing');
  await networks.clock.advance(365 * 24 * 3_600_000);
  assert.equal((await lookUp(request)).state, 'processing');
  assert.deepEqual(await callbacksNow(), []);
});

test('0005: no response; not found for 5 s, then successful, and never reported', async () => {
  const { clock } = networks;
  const request = networks.payoutRequest('+2207510005');
  assert.deepEqual(await startAndTimeOut(request), { state: 'unknown', detail: 'no response within 3000 ms' });
  await clock.advance(1_999);
  assert.equal((await lookUp(request)).state, 'not_found');
  await clock.advance(1);
  const found = await lookUp(request);
  assert.equal(providerTransactionOf(found).amountMinor, 10_000n);
  assert.deepEqual(await callbacksNow(), []);
  assert.deepEqual(await start(request), found, 'the same order again answers the same payout');
});

test('0006: no response; not found for 5 s, then failed, and never reported', async () => {
  const { clock } = networks;
  const request = networks.payoutRequest('+2207510006');
  assert.equal((await startAndTimeOut(request)).state, 'unknown');
  assert.equal((await lookUp(request)).state, 'not_found');
  await clock.advance(2_000);
  assert.equal(failureOf(await lookUp(request)), 'refused_by_network');
  assert.deepEqual(await callbacksNow(), []);
});

test('0007: success is reported three times, out of order around an older "accepted"', async () => {
  const request = networks.payoutRequest('+2207510007');
  assert.equal((await start(request)).state, 'processing');
  assert.deepEqual(await callbacksNow(), []);
  await networks.clock.advance(2_000);
  const responses = await callbacksNow();
  assert.deepEqual(
    responses.map(({ state }) => state),
    ['succeeded', 'succeeded', 'succeeded', 'succeeded'],
    'also the older one finds the success',
  );
  assert.deepEqual(responses[3], responses[0]);
  assert.deepEqual(await lookUp(request), responses[0]);
});

test('0008: the network is down for 5 s, creates nothing, then accepts the same request', async () => {
  const { clock } = networks;
  const [first, second] = [networks.payoutRequest('+2207510008'), networks.payoutRequest('+2207510008')];
  assert.deepEqual(await start(first), down);
  assert.equal((await lookUp(first)).state, 'not_found');
  await clock.advance(4_999);
  assert.deepEqual(await start(first), down, 'another try does not make the outage longer');
  assert.deepEqual(await start(second), down);
  assert.deepEqual(await callbacksNow(), []);
  await clock.advance(1);
  assert.equal((await start(first)).state, 'succeeded');
  await clock.advance(60_000);
  assert.equal((await start(second)).state, 'succeeded', 'whoever was held back gets through');
});

test('0008: ten minutes after recovery a new request meets an outage, a known one gets its payout', async () => {
  const { clock } = networks;
  const known = networks.payoutRequest('+2207520008');
  assert.deepEqual(await start(known), down);
  await clock.advance(5_000);
  const response = await start(known);
  assert.equal(response.state, 'succeeded');
  await clock.advance(10 * 60_000);
  const next = networks.payoutRequest('+2207520008');
  assert.deepEqual(await start(next), down);
  assert.deepEqual(await start(known), response);
  await clock.advance(5_000);
  assert.equal((await start(next)).state, 'succeeded');
  await callbacksNow();
});

test('0008: an outage is per operation, number, network and account', async () => {
  const { clock } = networks;
  const collection = await networks.connector('aps').collections.start(networks.request('+2207530008'));
  assert.equal(collection.state, 'refused');
  assert.deepEqual(await start(networks.payoutRequest('+2207530008')), down);
  await clock.advance(5_000);
  assert.equal((await start(networks.payoutRequest('+2207530008'))).state, 'succeeded');
  for (const other of [
    networks.payoutRequest('+2207530008', { reference: 'Other567reference0000000000011' }),
    networks.payoutRequest('+2207540008'),
  ]) {
    assert.deepEqual(await start(other), down);
  }
  assert.equal((await start(networks.payoutRequest('+2207530008'), 'wave')).state, 'unknown', 'so Wave documents 503');
  await callbacksNow();
});

test('a manual outage stops payouts to its number until it ends', async () => {
  const { simulator, clock } = networks;
  const line = { account, network: 'aps', number: '751 2346' };
  const request = networks.payoutRequest('+220877512346');
  await simulator.beginOutage(line, addMs(clock.now(), 60_000));
  assert.deepEqual(await start(request), down);
  assert.equal((await start(networks.payoutRequest('+2207512347'))).state, 'succeeded');
  assert.equal((await start(networks.payoutRequest('+2207512346'), 'wave')).state, 'succeeded');
  await clock.advance(60_000);
  assert.equal((await start(request)).state, 'succeeded');
  await simulator.beginOutage(line, null);
  await clock.advance(3_600_000);
  assert.deepEqual(await start(networks.payoutRequest('+2207512346')), down);
  await simulator.endOutage(line);
  assert.equal((await start(networks.payoutRequest('+2207512346'))).state, 'succeeded');
  await networks.sender.sendDueCallbacks();
});

for (const [ending, afterMs, isPolled] of [
  ['0009', 2_000, false],
  ['0011', 30_000, true],
] as const) {
  test(`${ending} is completed after ${afterMs / 1_000} s, ${isPolled ? 'and polled' : 'and reported'}`, async () => {
    const { clock } = networks;
    const request = networks.payoutRequest(`+220751${ending}`);
    const response = await start(request);
    assert.ok(response.state === 'processing');
    const key = { reference: request.reference, handles: response.handles };
    await clock.advance(afterMs - 1);
    assert.equal((await networks.payouts('aps').lookUp(key)).state, 'processing');
    assert.deepEqual(await callbacksNow(), []);
    await clock.advance(1);
    const found = await networks.payouts('aps').lookUp(key);
    assert.equal(found.state, 'succeeded');
    assert.deepEqual(await callbacksNow(), isPolled ? [] : [found]);
  });
}

test('0010: the float is empty and nothing is created, until it is filled', async () => {
  const { clock, simulator } = networks;
  const request = networks.payoutRequest('+2207510010');
  assert.deepEqual(await start(request), floatEmpty);
  await clock.advance(3_600_000);
  assert.deepEqual(await start(request), floatEmpty);
  assert.equal((await lookUp(request)).state, 'not_found');
  const [float] = await simulator.payouts.listFloats({ number: '751 0010' });
  assert.ok(float?.account === account && float.network === 'aps' && float.state === 'empty');
  const line = { account, network: 'aps', number: '7510010' };
  await simulator.payouts.setFloat(line, 'filled');
  assert.equal((await start(request)).state, 'succeeded');
  assert.equal((await start(networks.payoutRequest('+2207510010'))).state, 'succeeded', 'it stays filled');
  await simulator.payouts.setFloat(line, 'empty');
  assert.deepEqual(await start(networks.payoutRequest('+2207510010')), floatEmpty);
  assert.equal((await start(request)).state, 'succeeded', 'what was paid stays paid');
});

test('a float belongs to one account, one network and one number', async () => {
  const { payouts } = networks.simulator;
  await payouts.setFloat({ account, network: 'aps', number: '7520010' }, 'filled');
  assert.equal((await start(networks.payoutRequest('+2207520010'))).state, 'succeeded');
  assert.deepEqual(await start(networks.payoutRequest('+2207520010'), 'wave'), floatEmpty);
  assert.deepEqual(await start(networks.payoutRequest('+2207530010')), floatEmpty);
  const other = networks.payoutRequest('+2207520010', { reference: 'Other567reference0000000000012' });
  assert.deepEqual(await start(other), floatEmpty);
  assert.deepEqual(
    (await payouts.listFloats({ number: '7520010', account: 'Other567' })).map((float) => [float.account, float.state]),
    [['Other567', 'empty']],
  );
  await callbacksNow();
});

test('any number’s float can be emptied', async () => {
  const line = { account, network: 'aps', number: '7512348' };
  await networks.simulator.payouts.setFloat(line, 'empty');
  assert.deepEqual(await start(networks.payoutRequest('+2207512348')), floatEmpty);
  await networks.simulator.payouts.setFloat(line, 'filled');
  assert.equal((await start(networks.payoutRequest('+2207512348'))).state, 'succeeded');
  await callbacksNow();
});

test('0012: completed, then reversed by the network two seconds later', async () => {
  const { clock } = networks;
  const request = networks.payoutRequest('+2207510012');
  const started = await start(request);
  assert.equal(started.state, 'succeeded');
  await clock.advance(1_999);
  assert.deepEqual(await callbacksNow(), []);
  assert.equal((await lookUp(request)).state, 'succeeded');
  await clock.advance(1);
  const reversed = await lookUp(request);
  assert.equal(reversed.state, 'reversed');
  assert.deepEqual(providerTransactionOf(reversed), providerTransactionOf(started));
  assert.deepEqual(await callbacksNow(), [reversed]);
});

test('a payout accepted by one process is reported by another', async () => {
  const request = networks.payoutRequest('+2207510009');
  assert.equal((await start(request)).state, 'processing');
  const second = networks.secondProcess();
  await networks.clock.advance(2_000);
  const { reference } = request;
  const [payout] = await second.simulator.payouts.search({ account, network: 'aps', reference });
  assert.equal(payout?.status, 'completed');
  networks.receiver.received.length = 0;
  assert.equal(await second.sender.sendDueCallbacks(), 1);
  assert.equal(networks.receiver.received.length, 1);
});
