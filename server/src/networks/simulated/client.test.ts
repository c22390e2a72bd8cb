import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../../../../test/harness/eventually.ts';
import { ManualClock } from '../../../../test/harness/manual-clock.ts';
import type { CollectionResponse, StartCollection } from '../contract.ts';
import { createSimulatedConnectors } from './connectors.ts';
import { respondWith, closedPort, connectorsAt, faults, withNetwork } from './faulty-network.corpus.ts';

const request: StartCollection = {
  reference: 'Shop1234reference0001',
  amountMinor: 10_000n,
  currency: 'GMD',
  payerNumber: '+220877012345',
  payerNumberAsSent: '7012345',
  description: 'Rice',
  expiresAt: new Date('2026-11-20T13:00:00.000Z'),
  returnUrl: 'https://shop.example/back',
  callbackUrl: 'https://pay.example/callbacks',
};

for (const [name, fault] of faults) {
  test(`${name} leaves the outcome of every call unknown`, async () => {
    await withNetwork(fault, async ({ aps, requests }) => {
      const later = { reference: request.reference, handles: { session_id: 'Shop1234session' } };
      const responses = [
        await aps.collections.start(request),
        await aps.collections.lookUp(later),
        await aps.collections.lookUp({ ...later, handles: {} }),
        await aps.collections.cancel(later),
        await aps.collections.cancel({ ...later, handles: {} }),
        await aps.collections.continue({ ...later, code: '123456' }),
        await aps.collections.continue({ ...later, code: null }),
      ];
      for (const response of responses) {
        assert.ok(response.state === 'unknown', JSON.stringify(response.state));
        assert.match(response.detail, /^[\w :]{3,60}$/);
        assert.ok(!response.detail.includes('123456') && !response.detail.includes('7012345'));
      }
      assert.equal(requests.length, 7, 'nothing is sent twice');
    });
  });
}

test('a call without a response is unknown after its timeout, and its connection is closed', async () => {
  await withNetwork(
    () => {},
    async ({ aps, clock, requests, connections }) => {
      const response = aps.collections.start(request);
      await eventually('the request has arrived', () => requests.length === 1);
      await clock.advance(2_999);
      assert.equal(clock.sleeping, 1, 'it still waits');
      await clock.advance(1);
      assert.deepEqual(await response, { state: 'unknown', detail: 'no response within 3000 ms' });
      await eventually('the connection is gone', () => connections() === 0);
      assert.equal(clock.sleeping, 0);
    },
  );
});

test('a response whose body never ends is unknown after the call timeout', async () => {
  await withNetwork(
    (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{'),
    async ({ aps, clock, requests }) => {
      const response = aps.collections.start(request);
      await eventually('the request has arrived', () => requests.length === 1);
      await clock.advance(3_000);
      assert.equal((await response).state, 'unknown');
    },
  );
});

test('a start without a connection is refused; a later call without one is unknown', async () => {
  for (const host of ['127.0.0.1', 'localhost']) {
    const connectors = connectorsAt(`http://${host}:${closedPort}`, new ManualClock());
    const [aps] = connectors;
    assert.ok(aps);
    const started = await aps.collections.start(request);
    assert.ok(started.state === 'refused' && started.failure.code === 'network_unavailable', host);
    const lookUp = await aps.collections.lookUp({ reference: request.reference, handles: {} });
    assert.equal(lookUp.state, 'unknown', host);
    await Promise.all(connectors.map((connector) => connector.close()));
  }
});

test('a network that hangs occupies its own connections and no other network’s', async () => {
  await withNetwork(
    () => {},
    async ({ connectors, clock, requests, connections }) => {
      const [afrimoney, aps] = connectors;
      assert.ok(aps && afrimoney);
      const hanging = Array.from({ length: 10 }, () => aps.collections.start(request));
      await eventually('every connection of the bulkhead is taken', () => requests.length === 4);
      const other = afrimoney.collections.start(request);
      await eventually('the other network is reached', () => requests.length === 5);
      assert.equal(connections(), 5);
      await clock.advance(3_000);
      const responses = await Promise.all([...hanging, other]);
      assert.ok(responses.every((response: CollectionResponse) => response.state === 'unknown'));
    },
  );
});

test('look-ups that hang leave connections for new collections', async () => {
  await withNetwork(
    () => {},
    async ({ aps, clock, requests }) => {
      const later = { reference: request.reference, handles: { session_id: 'Shop1234session' } };
      const hanging = Array.from({ length: 10 }, () => aps.collections.lookUp(later));
      await eventually('every connection for look-ups is taken', () => requests.length === 4);
      const start = aps.collections.start(request);
      await eventually('the start is sent', () => requests.some((sent) => sent.startsWith('POST')));
      await clock.advance(3_000);
      await Promise.all([...hanging, start]);
    },
  );
});

test('connections are kept between calls, and closing ends them', async () => {
  await withNetwork(
    (socket) => socket.write(respondWith(404, '{"code":"not_found"}')),
    async ({ aps, connections, requests }) => {
      const later = { reference: request.reference, handles: { session_id: 'Shop1234session' } };
      for (let count = 0; count < 10; count += 1) {
        assert.equal((await aps.collections.lookUp(later)).state, 'not_found');
      }
      assert.equal(requests.length, 10);
      // A call in the same tick would find the first connection not yet marked as free.
      assert.ok(connections() <= 2, `${connections()} connections`);
      await aps.close();
      await eventually('the connection is gone', () => connections() === 0);
    },
  );
});

test('a repeated start sends the same bytes, with the credential of the reference’s account', async () => {
  await withNetwork(
    (socket) => socket.write(respondWith(500, '{}')),
    async ({ aps, requests }) => {
      const long = { ...request, description: `${'x'.repeat(254)}😀😀` };
      await aps.collections.start(long);
      await aps.collections.start(long);
      assert.equal(requests[0], requests[1]);
      assert.match(requests[0] ?? '', /^POST \/simulator\/networks\/aps\/collections HTTP/);
      assert.match(requests[0] ?? '', /authorization: Bearer sim_Shop1234_[0-9a-f]{64}\r\n/);
      assert.match(requests[0] ?? '', /"amount":"100.00"/);
      assert.ok(!(requests[0] ?? '').includes('\\ud83d'), 'no half characters');
    },
  );
});

test('connectors without secrets throw', () => {
  const options = { baseUrl: () => 'http://127.0.0.1', clock: new ManualClock() };
  assert.throws(() => createSimulatedConnectors({ ...options, bearerSecret: 'x', callbackSecret: '' }), /secret/);
  assert.throws(() => createSimulatedConnectors({ ...options, bearerSecret: '', callbackSecret: 'x' }), /secret/);
});

test('the networks are in the order in which payers see them, each on its own rail account', () => {
  const options = { baseUrl: () => 'http://127.0.0.1', clock: new ManualClock() };
  const connectors = createSimulatedConnectors({ ...options, bearerSecret: 'x', callbackSecret: 'x' });
  assert.deepEqual(
    connectors.map(({ capabilities, collections }) => [
      capabilities.network,
      collections.capabilities.shape,
      capabilities.railAccount,
    ]),
    [
      ['afrimoney', 'push_then_confirm', 'afrimoney-test'],
      ['qmoney', 'code', 'qmoney-test'],
      ['aps', 'push', 'aps-test'],
    ],
  );
  assert.ok(connectors.every(({ capabilities }) => capabilities.testMode));
});
