import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { eventually } from '../../../../test/harness/eventually.ts';
import { ManualClock } from '../../../../test/harness/manual-clock.ts';
import { startSimulatedNetworks } from '../../../../test/harness/simulated-networks.ts';
import type { SimulatedNetworks } from '../../../../test/harness/simulated-networks.ts';
import type { PayoutOperations, StartPayout } from '../contract.ts';
import { respondWith, closedPort, connectorsAt, faults, withNetwork } from './faulty-network.corpus.ts';
import type { SimulatedConnector } from './connectors.ts';

let networks: SimulatedNetworks;

before(async () => {
  networks = await startSimulatedNetworks();
});

after(async () => {
  await networks.close();
});

function payoutsOf(connector: SimulatedConnector): PayoutOperations {
  assert.ok(connector.payouts);
  return connector.payouts;
}

async function payoutsWritten(request: StartPayout): Promise<number> {
  const text = 'SELECT id FROM simulator.payouts WHERE reference = $1';
  return (await networks.db.rows({ name: 'test_payouts', text, values: [request.reference] })).length;
}

for (const [name, fault] of faults) {
  for (const paid of [true, false]) {
    test(`after ${name} (paid: ${paid}) the outcome is unknown, then looked up, and paid once`, async () => {
      const request = networks.payoutRequest('+2207510001');
      const good = networks.payouts('aps');
      const onRequest = (socket: Socket): void => {
        const before = paid ? good.start(request) : Promise.resolve();
        void before.then(() => fault(socket));
      };
      await withNetwork(onRequest, async ({ aps, requests }) => {
        const faulty = payoutsOf(aps);
        const responses = [
          await faulty.start(request),
          await faulty.lookUp({ reference: request.reference, handles: {} }),
          await faulty.lookUp({ reference: request.reference, handles: { payout_id: 'Shop1234payout' } }),
        ];
        for (const response of responses) {
          assert.ok(response.state === 'unknown', response.state);
          assert.match(response.detail, /^[\w :]{3,60}$/);
        }
        assert.equal(requests.length, 3, 'nothing is sent twice');
      });
      assert.equal(await payoutsWritten(request), paid ? 1 : 0);
      const found = await good.lookUp({ reference: request.reference, handles: {} });
      assert.equal(found.state, paid ? 'succeeded' : 'not_found');
      const repeated = await good.start(request);
      assert.equal(repeated.state, 'succeeded');
      if (paid) assert.deepEqual(repeated, found);
      assert.equal(await payoutsWritten(request), 1);
    });
  }
}

test('a connection that is reset before the request was sent leaves the outcome unknown', async () => {
  const body = async ({ aps }: { aps: SimulatedConnector }): Promise<void> => {
    assert.equal((await payoutsOf(aps).start(networks.payoutRequest('+2207510001'))).state, 'unknown');
  };
  await withNetwork(
    () => {},
    body,
    (socket) => socket.resetAndDestroy(),
  );
});

test('a payout without a response is unknown after the call timeout', async () => {
  await withNetwork(
    () => {},
    async ({ aps, clock, requests }) => {
      const response = payoutsOf(aps).start(networks.payoutRequest('+2207510001'));
      await eventually('the request has arrived', () => requests.length === 1);
      await clock.advance(3_000);
      assert.deepEqual(await response, { state: 'unknown', detail: 'no response within 3000 ms' });
    },
  );
});

test('a payout without a connection is not accepted; a look-up without one is unknown', async () => {
  const connectors = connectorsAt(`http://127.0.0.1:${closedPort}`, new ManualClock());
  const request = networks.payoutRequest('+2207510001');
  const lookUp = { reference: request.reference, handles: {} };
  for (const connector of connectors) {
    const payouts = payoutsOf(connector);
    assert.deepEqual(await payouts.start(request), { state: 'not_accepted', reason: 'network_unavailable' });
    assert.equal((await payouts.lookUp(lookUp)).state, 'unknown');
    assert.equal((await payouts.lookUp({ ...lookUp, handles: { payout_id: 'Shop1234payout' } })).state, 'unknown');
    await connector.close();
  }
});

test('a repeated payout sends the same bytes, with the credential of the reference’s account', async () => {
  await withNetwork(
    (socket) => socket.write(respondWith(500, '{}')),
    async ({ aps, requests }) => {
      const long = `${'x'.repeat(254)}😀😀`;
      const request = networks.payoutRequest('+2207510001', {
        amountMinor: 10_050n,
        description: long,
        beneficiaryName: long,
      });
      await payoutsOf(aps).start(request);
      await payoutsOf(aps).start(request);
      assert.equal(requests[0], requests[1]);
      assert.match(requests[0] ?? '', /^POST \/simulator\/networks\/aps\/payouts HTTP/);
      assert.match(requests[0] ?? '', /authorization: Bearer sim_Shop1234_[0-9a-f]{64}\r\n/);
      assert.match(requests[0] ?? '', /"amount":"100.50"/);
      assert.ok(!(requests[0] ?? '').includes('\\ud83d'), 'no half characters');
      const accepted = await networks.payouts('aps').start(request);
      assert.equal(accepted.state, 'succeeded', 'the network takes texts of any length from us');
    },
  );
});

test('every network pays out single bututs, with a breaker for each merchant and number', () => {
  for (const network of ['afrimoney', 'qmoney', 'aps']) {
    assert.deepEqual(networks.payouts(network).capabilities, {
      amountStepMinor: 1n,
      lookUpDelaysMs: [1_000, 2_000, 5_000, 10_000, 30_000, 60_000],
      resendAfterMs: 30_000,
      giveUpAfterMs: 86_400_000,
      recheckAfterMs: [],
      breakerScope: 'merchant_and_number',
    });
  }
});
