import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { startSimulatedNetworks, type SimulatedNetworks } from '../test/harness/simulated-networks.ts';
import { eventually } from '../test/harness/eventually.ts';
import { addMs } from '../server/src/kit/clock.ts';
import { createCallbackSender } from './callback-sender.ts';
import { createNetworkWires } from './wires.ts';

let networks: SimulatedNetworks;

before(async () => {
  networks = await startSimulatedNetworks();
});

after(async () => {
  await networks.close();
});

afterEach(async () => {
  networks.receiver.respondWith(200);
  await networks.clock.advance(4 * 24 * 3_600_000);
  while ((await networks.sender.sendDueCallbacks()) > 0);
  networks.receiver.received.length = 0;
});

/** Starts a payment that is approved at once; its callback is due now. */
async function startApproved(): Promise<void> {
  const response = await networks.connector('wave').collections.start(networks.request('+2207010001'));
  assert.equal(response.state, 'succeeded');
}

test('a callback is stored with the change it reports, sent once, and then deleted', async () => {
  assert.equal(await networks.sender.nextDueAt(), null);
  await startApproved();
  assert.deepEqual(await networks.sender.nextDueAt(), networks.clock.now());
  assert.equal(await networks.sender.sendDueCallbacks(), 1);
  assert.equal(networks.receiver.received.length, 1);
  assert.equal(networks.receiver.received[0]?.path, '/callbacks');
  assert.equal(await networks.sender.sendDueCallbacks(), 0);
  assert.equal(await networks.sender.nextDueAt(), null);
});

test('a refused callback is retried with a new signature until it is accepted', async () => {
  const { clock, receiver, sender } = networks;
  await startApproved();
  receiver.respondWith(500);
  const waits: number[] = [];
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    assert.equal(await sender.sendDueCallbacks(), 1, `attempt ${attempt}`);
    assert.equal(await sender.sendDueCallbacks(), 0, 'not before its time');
    const dueAt = await sender.nextDueAt();
    assert.ok(dueAt);
    waits.push(dueAt.getTime() - clock.now().getTime());
    await clock.advance(waits.at(-1) ?? 0);
  }
  assert.deepEqual(waits, [1_000, 5_000, 30_000, 120_000, 600_000]);
  receiver.respondWith(204);
  assert.equal(await sender.sendDueCallbacks(), 1);
  assert.equal(await sender.nextDueAt(), null);
  const [first, ...later] = receiver.received;
  assert.ok(first);
  for (const { headers, body } of later) {
    assert.deepEqual(body, first.body, 'the notification stays the same');
    assert.notEqual(headers['wave-signature'], first.headers['wave-signature']);
  }
  const last = receiver.received.at(-1);
  assert.ok(last);
  const reading = networks.connector('wave').readCallback({ ...last, query: {}, receivedAt: clock.now() });
  assert.ok(reading.accepted);
});

test('a callback is given up after three days', async () => {
  const { clock, receiver, sender } = networks;
  const start = clock.now();
  await startApproved();
  receiver.respondWith(503);
  let attempts = 0;
  for (let dueAt = await sender.nextDueAt(); dueAt !== null; dueAt = await sender.nextDueAt()) {
    await clock.advance(dueAt.getTime() - clock.now().getTime());
    attempts += await sender.sendDueCallbacks();
  }
  assert.ok(clock.now() > addMs(start, 2.5 * 24 * 3_600_000), 'it must not give up early');
  assert.ok(clock.now() <= addMs(start, 3 * 24 * 3_600_000));
  assert.ok(attempts > 10 && attempts < 30, `${attempts} attempts`);
});

test('a receiver that does not respond times out after five seconds, and the callback is retried', async () => {
  const { clock, receiver, sender } = networks;
  await startApproved();
  receiver.respondWith(null);
  const sending = sender.sendDueCallbacks();
  await eventually('the callback has arrived', () => receiver.received.length === 1);
  await clock.advance(5_000);
  assert.equal(await sending, 1);
  assert.deepEqual(await sender.nextDueAt(), addMs(clock.now(), 1_000));
});

test('two processes share the callbacks: each is sent by one of them', async () => {
  for (let count = 0; count < 12; count += 1) await startApproved();
  const second = networks.secondProcess();
  const sent = await Promise.all([networks.sender.sendDueCallbacks(), second.sender.sendDueCallbacks()]);
  assert.equal((sent[0] ?? 0) + (sent[1] ?? 0), 12);
  assert.equal(new Set(networks.receiver.received.map(({ body }) => body.toString())).size, 12);
});

test('a callback claimed by a killed process is sent by another when its lease ends', async () => {
  const { clock, db, receiver } = networks;
  await startApproved();
  receiver.respondWith(null);
  const killed = createCallbackSender({ db: dead(db), clock, wires: networks.wires });
  const sending = assert.rejects(killed.sendDueCallbacks(), /killed/);
  await eventually('the callback has arrived', () => receiver.received.length === 1);
  await killed.close();
  await sending;
  receiver.respondWith(200);
  assert.equal(await networks.sender.sendDueCallbacks(), 0);
  const leaseEndsAt = await networks.sender.nextDueAt();
  assert.ok(leaseEndsAt);
  await clock.advance(leaseEndsAt.getTime() - clock.now().getTime());
  assert.equal(await networks.sender.sendDueCallbacks(), 1);
  assert.equal(receiver.received.length, 2);
});

/** A database that stops writing after the claim, like a process that is killed while it sends. */
function dead(db: SimulatedNetworks['db']): SimulatedNetworks['db'] {
  return new Proxy(db, {
    get: (target, name) => {
      if (name === 'run') return () => Promise.reject(new Error('killed'));
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

test('a callback of one network is refused at another, though one server sends both', async () => {
  await startApproved();
  await networks.sender.sendDueCallbacks();
  const [callback] = networks.receiver.received;
  assert.ok(callback);
  const receivedAt = networks.clock.now();
  assert.ok(networks.connector('wave').readCallback({ ...callback, query: {}, receivedAt }).accepted);
  assert.deepEqual(networks.connector('aps').readCallback({ ...callback, query: {}, receivedAt }), {
    accepted: false,
    reason: 'malformed',
  });
});

test('wires cannot be created without a secret', () => {
  assert.throws(() => createNetworkWires({ callbackSecret: '', publicUrl: () => 'http://localhost' }), /secret/);
});

test('a callback of a wire that this release does not have is deleted and not sent', async () => {
  await startApproved();
  const text = "UPDATE simulator.callbacks SET wire = 'retired'";
  await networks.db.run({ name: 'test_retire', text, values: [] });
  assert.equal(await networks.sender.sendDueCallbacks(), 1);
  assert.equal(networks.receiver.received.length, 0);
  assert.equal(await networks.sender.nextDueAt(), null);
});
