import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  approvalWindowMs,
  startSimulatedNetworks,
  type SimulatedNetworks,
} from '../test/harness/simulated-networks.ts';
import { addMs } from '../server/src/kit/clock.ts';
import type { CollectionResponse, ProviderTransaction, StartCollection } from '../server/src/networks/contract.ts';

let networks: SimulatedNetworks;

before(async () => {
  networks = await startSimulatedNetworks();
});

after(async () => {
  await networks.close();
});

const allNetworks = ['wave', 'afrimoney', 'qmoney', 'aps'] as const;

/** Whether a network names the payer, and calls back about what it has said in its response. */
const onWire = {
  wave: ['+220877010001', true],
  afrimoney: [null, true],
  qmoney: [null, true],
  aps: ['+220877010001', false],
} as const;

function start(network: string, request: StartCollection): Promise<CollectionResponse> {
  return networks.connector(network).collections.start(request);
}

function lookUp(network: string, request: StartCollection): Promise<CollectionResponse> {
  return networks.connector(network).collections.lookUp({ reference: request.reference, handles: {} });
}

function providerTransactionOf(response: CollectionResponse): ProviderTransaction {
  assert.ok(response.state === 'succeeded' || response.state === 'reversed', `no money moved: ${response.state}`);
  return response.providerTransaction;
}

function failureOf(response: CollectionResponse): string {
  assert.ok(response.state === 'refused', `not refused: ${response.state}`);
  return response.failure.code;
}

/** Starts a collection without a response, and lets the connector time out. */
async function startAndTimeOut(request: StartCollection): Promise<CollectionResponse> {
  const response = start('aps', request);
  await networks.untilStored(request);
  await networks.clock.advance(3_000);
  return response;
}

for (const network of allNetworks) {
  test(`0001 on ${network} is approved at once, for the requested amount and without a network fee`, async () => {
    const request = networks.request('+2207010001');
    const started = await start(network, request);
    const response = await lookUp(network, request);
    const providerTransaction = providerTransactionOf(response);
    assert.equal(providerTransaction.amountMinor, 10_000n);
    assert.equal(providerTransaction.currency, 'GMD');
    assert.equal(providerTransaction.networkFeeMinor, 0n);
    const [payerNumber, reported] = onWire[network];
    assert.equal(providerTransaction.payerNumber, payerNumber);
    assert.equal(started.state, network === 'wave' || network === 'aps' ? 'succeeded' : 'awaiting_payer');
    assert.deepEqual(await networks.reportedCollections(network), reported ? [response] : []);
  });
}

test('two payments never share a transaction id', async () => {
  const first = providerTransactionOf(await start('aps', networks.request('+2207010001')));
  const second = providerTransactionOf(await start('aps', networks.request('+2207010001')));
  assert.notEqual(first.transactionId, second.transactionId);
  await networks.reportedCollections('aps');
});

test('0002: the payer declines', async () => {
  const request = networks.request('+2207010002');
  assert.equal(failureOf(await start('aps', request)), 'declined_by_payer');
  assert.deepEqual(await networks.reportedCollections('aps'), [], 'the response says it');
  assert.equal(failureOf(await lookUp('aps', request)), 'declined_by_payer');
});

test('0003: the payer has too little money', async () => {
  const request = networks.request('+2207010003');
  assert.equal(failureOf(await start('aps', request)), 'insufficient_funds');
});

test('0004: the payer never responds, and the prompt expires on time even if nothing runs', async () => {
  const { clock } = networks;
  const request = networks.request('+2207010004');
  assert.equal((await start('aps', request)).state, 'awaiting_payer');
  await clock.advance(approvalWindowMs - 1);
  assert.equal((await lookUp('aps', request)).state, 'awaiting_payer');
  await clock.advance(1);
  assert.equal(failureOf(await lookUp('aps', request)), 'expired');
  assert.deepEqual(await networks.reportedCollections('aps'), []);
});

test('0005: no response; unknown to look-ups for 5 s, then successful, and never reported', async () => {
  const { clock } = networks;
  const request = networks.request('+2207010005');
  assert.deepEqual(await startAndTimeOut(request), { state: 'unknown', detail: 'no response within 3000 ms' });
  await clock.advance(1_999);
  assert.equal((await lookUp('aps', request)).state, 'not_found');
  await clock.advance(1);
  assert.equal(providerTransactionOf(await lookUp('aps', request)).amountMinor, 10_000n);
  assert.deepEqual(await networks.reportedCollections('aps'), []);
});

test('0006: no response; unknown to look-ups for 5 s, then failed, and never reported', async () => {
  const { clock } = networks;
  const request = networks.request('+2207010006');
  assert.equal((await startAndTimeOut(request)).state, 'unknown');
  assert.equal((await lookUp('aps', request)).state, 'not_found');
  await clock.advance(2_000);
  assert.equal(failureOf(await lookUp('aps', request)), 'refused_by_network');
  assert.deepEqual(await networks.reportedCollections('aps'), []);
});

test('0005: a start repeated after a timeout returns the same session', async () => {
  const { clock } = networks;
  const request = networks.request('+2207010005');
  await startAndTimeOut(request);
  await clock.advance(2_000);
  const repeated = await start('aps', request);
  assert.equal(repeated.state, 'succeeded');
  assert.deepEqual(repeated, await lookUp('aps', request));
});

test('0007: success reported three times, out of order around an older "open"', async () => {
  const { clock } = networks;
  const request = networks.request('+2207010007');
  assert.equal((await start('aps', request)).state, 'awaiting_payer');
  assert.deepEqual(await networks.reportedCollections('aps'), []);
  await clock.advance(2_000);
  const responses = await networks.reportedCollections('aps');
  assert.deepEqual(
    responses.map(({ state }) => state),
    ['succeeded', 'succeeded', 'succeeded', 'succeeded'],
    'also the older one finds the success',
  );
  const transactionIds = new Set(
    responses.flatMap((response) =>
      response.state === 'succeeded' ? [response.providerTransaction.transactionId] : [],
    ),
  );
  assert.equal(transactionIds.size, 1);
  assert.equal((await lookUp('aps', request)).state, 'succeeded');
});

test('0008: the network is down, nothing is created, and it stays down', async () => {
  const request = networks.request('+2207010008');
  assert.equal(failureOf(await start('aps', request)), 'network_unavailable');
  assert.equal(failureOf(await start('aps', request)), 'network_unavailable');
  assert.equal((await lookUp('aps', request)).state, 'not_found');
  assert.deepEqual(await networks.reportedCollections('aps'), []);
});

test('an outage belongs to one account, one network and one number', async () => {
  const { simulator, clock } = networks;
  const outage = { account: 'Shop1234', network: 'aps', number: '701 2345' };
  await simulator.beginOutage(outage, addMs(clock.now(), 5_000));
  assert.equal(failureOf(await start('aps', networks.request('+220877012345'))), 'network_unavailable');
  assert.equal((await start('wave', networks.request('+2207012345'))).state, 'awaiting_payer');
  assert.equal((await start('aps', networks.request('+2207012346'))).state, 'awaiting_payer');
  const other = networks.request('+2207012345', { reference: 'Other567reference0000000000001' });
  assert.equal((await start('aps', other)).state, 'awaiting_payer');
  await clock.advance(5_000);
  assert.equal((await start('aps', networks.request('+2207012345'))).state, 'awaiting_payer');
  await simulator.beginOutage(outage, null);
  assert.equal(failureOf(await start('aps', networks.request('+2207012345'))), 'network_unavailable');
  await simulator.endOutage(outage);
  assert.equal((await start('aps', networks.request('+2207012345'))).state, 'awaiting_payer');
});

for (const network of ['afrimoney', 'qmoney'] as const) {
  test(`0009 on ${network} expects a code, and accepts 123456`, async () => {
    const request = networks.request('+2207010009');
    const started = await start(network, request);
    assert.ok(started.state === 'awaiting_payer');
    assert.deepEqual(started.nextAction, { type: 'enter_code', length: 6 });
    const key = { ...request, handles: started.handles };
    const wrong = await networks.connector(network).collections.continue({ ...key, code: '000000' });
    assert.deepEqual(wrong, { state: 'code_refused', attemptsLeft: null });
    const right = await networks.connector(network).collections.continue({ ...key, code: '123456' });
    assert.equal(right.state, 'succeeded');
    assert.deepEqual(await networks.reportedCollections(network), [right]);
  });
}

test('0009 on APS expects the code on the phone, and accepts 123456', async () => {
  const request = networks.request('+2207010009');
  const started = await start('aps', request);
  assert.ok(started.state === 'awaiting_payer');
  assert.deepEqual(started.nextAction, { type: 'approve_on_phone' });
  const id = await networks.sessionIdOf('aps', request);
  const wrong = await networks.simulator.act(id, 'approve', '000000');
  assert.deepEqual([wrong?.prompt.requiresCode, wrong?.prompt.codeAttemptsLeft], [true, 2]);
  await networks.simulator.act(id, 'approve', '123456');
  assert.equal((await lookUp('aps', request)).state, 'succeeded');
  await networks.reportedCollections('aps');
});

test('0010: success is reported with another amount', async () => {
  const request = networks.request('+2207010010');
  assert.equal(providerTransactionOf(await start('aps', request)).amountMinor, 10_100n);
  assert.equal(providerTransactionOf(await lookUp('aps', request)).amountMinor, 10_100n);
});

test('0011: success comes two seconds after the prompt has expired', async () => {
  const { clock } = networks;
  const request = networks.request('+2207010011');
  assert.equal((await start('aps', request)).state, 'awaiting_payer');
  await clock.advance(approvalWindowMs);
  assert.equal(failureOf(await lookUp('aps', request)), 'expired');
  assert.deepEqual(await networks.reportedCollections('aps'), []);
  await clock.advance(2_000);
  const [reported] = await networks.reportedCollections('aps');
  assert.equal(reported?.state, 'succeeded');
});

test('0012: success, then reversed by the network two seconds later', async () => {
  const { clock } = networks;
  const request = networks.request('+2207010012');
  const started = await start('aps', request);
  assert.equal(started.state, 'succeeded');
  await clock.advance(1_999);
  assert.deepEqual(await networks.reportedCollections('aps'), []);
  assert.equal((await lookUp('aps', request)).state, 'succeeded');
  await clock.advance(1);
  const reversed = await lookUp('aps', request);
  assert.equal(reversed.state, 'reversed');
  assert.equal(providerTransactionOf(reversed).transactionId, providerTransactionOf(started).transactionId);
  assert.deepEqual(await networks.reportedCollections('aps'), [reversed]);
});

test('any other number waits for the payer’s approval', async () => {
  const request = networks.request('+2207010013');
  const started = await start('aps', request);
  assert.ok(started.state === 'awaiting_payer');
  assert.deepEqual(started.nextAction, { type: 'approve_on_phone' });
  await networks.clock.advance(60_000);
  assert.equal((await lookUp('aps', request)).state, 'awaiting_payer');
});
