import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { account, bearerSecret, startSimulatedNetworks } from '../../../../test/harness/simulated-networks.ts';
import type { SimulatedNetworks } from '../../../../test/harness/simulated-networks.ts';
import type { PayoutResponse, RefundOperations, StartRefund } from '../contract.ts';
import { accountCredential } from '../../../../simulator/credentials.ts';
import { faults, withNetwork } from './faulty-network.corpus.ts';
import type { SimulatedConnector } from './connectors.ts';
import { refundStartResponse } from './translate-payout.ts';

let networks: SimulatedNetworks;

before(async () => {
  networks = await startSimulatedNetworks();
});

after(async () => {
  await networks.close();
});

function refundsOf({ refunds }: Pick<SimulatedConnector, 'refunds'>): RefundOperations {
  assert.ok(refunds);
  return refunds;
}

const refunds = (network: string) => refundsOf(networks.connector(network));

/** Pays a collection of 100 GMD and returns the network's transaction id. */
async function collected(network: string, payer = '+2207510001'): Promise<string> {
  const request = networks.request(payer);
  let response = await networks.connector(network).collections.start(request);
  if (response.state !== 'succeeded') {
    const [prompt] = await networks.simulator.listPrompts({ number: payer });
    assert.ok(prompt);
    const action = prompt.actions.includes('approve') ? 'approve' : 'approve_late';
    await networks.simulator.act(prompt.sessionId, action);
    response = await networks.connector(network).collections.lookUp({ ...request, handles: {} });
  }
  assert.ok(response.state === 'succeeded', response.state);
  return response.providerTransaction.transactionId;
}

function refundOf(originalTransactionId: string, changes: Partial<StartRefund> = {}): StartRefund {
  const { reference, callbackUrl } = networks.payoutRequest('+2207510001');
  const amount = { amountMinor: 10_000n, currency: 'GMD' };
  return { reference, originalTransactionId, ...amount, description: 'Refund', callbackUrl, ...changes };
}

async function rowsOf({ reference }: StartRefund): Promise<number> {
  const text = 'SELECT id FROM simulator.payouts WHERE reference = $1';
  return (await networks.db.rows({ name: 'test_refunds', text, values: [reference] })).length;
}

/** The notifications that the connector parses from the callbacks that are due now. */
async function callbacksNow(network: string): Promise<PayoutResponse[]> {
  networks.receiver.received.length = 0;
  while ((await networks.sender.sendDueCallbacks()) > 0);
  return networks.receiver.received.flatMap(({ headers, body }) => {
    const reading = networks
      .connector(network)
      .readCallback({ headers, query: {}, body, receivedAt: networks.clock.now() });
    assert.ok(reading.accepted);
    return reading.notifications.flatMap((notifications) =>
      notifications.operation === 'payout' && notifications.response ? [notifications.response] : [],
    );
  });
}

const refusedBecause = (response: PayoutResponse): string =>
  response.state === 'refused' ? response.failure.reason : '';

for (const network of ['wave', 'aps']) {
  test(`${network} refunds a collection once per reference and reports it by every way`, async () => {
    const request = refundOf(await collected(network));
    await callbacksNow(network);
    const response = await refunds(network).start(request);
    assert.ok(response.state === 'succeeded', response.state);
    assert.deepEqual(
      [response.providerTransaction.amountMinor, response.providerTransaction.networkFeeMinor],
      [10_000n, 0n],
    );
    assert.notEqual(response.providerTransaction.transactionId, request.originalTransactionId);
    assert.deepEqual(await refunds(network).start(request), response);
    assert.deepEqual(await refunds(network).lookUp({ ...request, handles: {} }), response);
    const handles = { payout_id: response.providerTransaction.networkReference };
    assert.deepEqual(await refunds(network).lookUp({ ...request, handles }), response);
    assert.deepEqual(await callbacksNow(network), [response]);
    assert.equal(await rowsOf(request), 1);
  });
}

test('Wave refunds the whole amount or nothing, and once', async () => {
  const transaction = await collected('wave');
  const part = await refunds('wave').start(refundOf(transaction, { amountMinor: 9_999n }));
  assert.match(refusedBecause(part), /whole amount only/);
  assert.equal((await refunds('wave').start(refundOf(transaction))).state, 'succeeded');
  assert.match(refusedBecause(await refunds('wave').start(refundOf(transaction))), /too much/);
});

test('APS refunds parts, together never more than was collected, also concurrently', async () => {
  const transaction = await collected('aps');
  const parts = Array.from({ length: 4 }, () => refundOf(transaction, { amountMinor: 3_000n }));
  const responses = await Promise.all(parts.map((part) => refunds('aps').start(part)));
  assert.deepEqual(responses.map(({ state }) => state).toSorted(), ['refused', 'succeeded', 'succeeded', 'succeeded']);
  assert.equal((await refunds('aps').start(refundOf(transaction, { amountMinor: 1_000n }))).state, 'succeeded');
});

test('a failed or reversed refund can be made again', async () => {
  const blocked = await collected('aps', '+2207510002');
  for (const _ of [1, 2]) assert.equal((await refunds('aps').start(refundOf(blocked))).state, 'refused');
  const returned = await collected('aps');
  const setNumber = (number: string) =>
    networks.db.run({
      name: 'test_payer',
      text: 'UPDATE simulator.sessions SET payer_number = $2 WHERE transaction_id = $1',
      values: [returned, number],
    });
  await setNumber('+220877510012');
  assert.equal((await refunds('aps').start(refundOf(returned))).state, 'succeeded');
  assert.equal((await refunds('aps').start(refundOf(returned))).state, 'refused');
  await networks.clock.advance(2_000);
  await setNumber('+220877510001');
  assert.equal((await refunds('aps').start(refundOf(returned))).state, 'succeeded');
});

test('a collection that is unpaid, another account’s or another network’s is not refunded', async () => {
  const transaction = await collected('wave');
  assert.match(refusedBecause(await refunds('aps').start(refundOf(transaction))), /finds no payment/);
  assert.match(refusedBecause(await refunds('wave').start(refundOf('T0000'))), /finds no payment/);
  const credential = accountCredential(bearerSecret, { network: 'wave', account: 'Shop9999' });
  const other = await networks.server.inject({
    method: 'POST',
    url: '/simulator/networks/wave/refunds',
    headers: { authorization: `Bearer ${credential}` },
    payload: {
      reference: 'Shop9999reference0000000000001',
      transaction_id: transaction,
      amount: '100.00',
      currency: 'GMD',
      description: '',
      callback_url: 'http://127.0.0.1:9/',
    },
  });
  assert.deepEqual([other.statusCode, other.json<{ code: string }>().code], [422, 'not_refundable']);
});

test('Afrimoney and QMoney refuse refunds, and say so', async () => {
  for (const network of ['afrimoney', 'qmoney']) {
    assert.equal(networks.connector(network).refunds, null);
    const response = await networks.server.inject({
      method: 'POST',
      url: `/simulator/networks/${network}/refunds`,
      headers: { authorization: `Bearer ${accountCredential(bearerSecret, { network, account })}` },
      payload: {
        reference: `${account}reference${network.padEnd(13, '0')}`,
        transaction_id: 'T1',
        amount: '1',
        currency: 'GMD',
        description: '',
        callback_url: 'http://127.0.0.1:9/',
      },
    });
    assert.deepEqual([response.statusCode, response.json<{ code: string }>().code], [422, 'refunds_not_supported']);
  }
});

test('a refund is no payout and a payout no refund, and extra fields are refused by their name', async () => {
  const request = refundOf(await collected('aps'));
  await refunds('aps').start(request);
  assert.equal((await networks.payouts('aps').lookUp({ ...request, handles: {} })).state, 'not_found');
  const payout = networks.payoutRequest('+2207510001');
  await networks.payouts('aps').start(payout);
  assert.equal(
    (await refunds('aps').lookUp({ ...payout, handles: {}, originalTransactionId: 'T1' })).state,
    'not_found',
  );
  const response = await networks.server.inject({
    method: 'POST',
    url: '/simulator/networks/aps/refunds',
    headers: { authorization: `Bearer ${accountCredential(bearerSecret, { network: 'aps', account })}` },
    payload: { reference: 'x', metadata: {} },
  });
  assert.deepEqual([response.statusCode, response.json<{ field: string }>().field], [400, 'metadata']);
});

for (const [name, fault] of faults) {
  for (const isDone of [true, false]) {
    test(`after ${name} (refunded: ${isDone}) the outcome is unknown, then looked up, and refunded once`, async () => {
      const request = refundOf(await collected('wave'));
      const good = refunds('wave');
      const onRequest = (socket: Socket): void => {
        const before = isDone ? good.start(request) : Promise.resolve();
        void before.then(() => fault(socket));
      };
      await withNetwork(onRequest, async ({ wave }) => {
        for (const response of [
          await refundsOf(wave).start(request),
          await refundsOf(wave).lookUp({ ...request, handles: {} }),
        ]) {
          assert.equal(response.state, 'unknown');
        }
      });
      const found = await good.lookUp({ ...request, handles: {} });
      assert.equal(found.state, isDone ? 'succeeded' : 'not_found');
      assert.equal((await good.start(request)).state, 'succeeded');
      assert.equal(await rowsOf(request), 1);
    });
  }
}

test('only documented refusals end a refund; the same codes with another status do not', () => {
  const codes = ['refunds_not_supported', 'partial_not_supported', 'not_refundable', 'exceeds_refundable'];
  for (const code of codes) {
    const reported = (status: number) => refundStartResponse({ kind: 'response', status, body: { code } }, 'r').state;
    assert.deepEqual(
      [reported(422), reported(409), reported(500), reported(200)],
      ['refused', 'unknown', 'unknown', 'unknown'],
    );
  }
  for (const code of ['something_else', '', null, 7]) {
    assert.equal(refundStartResponse({ kind: 'response', status: 422, body: { code } }, 'r').state, 'unknown');
  }
  const waits = { kind: 'response', status: 503, body: { code: 'not_accepted' } } as const;
  assert.equal(refundStartResponse(waits, 'r').state, 'not_accepted');
});
