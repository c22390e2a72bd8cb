import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createApiClient } from '../harness/api-client.ts';
import { startDatabaseServer, type DatabaseServer } from '../harness/database-server.ts';
import { eventually } from '../harness/eventually.ts';
import { ProcessWorld } from '../harness/process.ts';
import {
  createTestKey,
  HealthChecks,
  Load,
  productionSettings,
  RollingInstances,
} from '../harness/rolling-restarts.ts';
import { jsonOf, type Settings } from '../harness/service-world.ts';

let world: ProcessWorld;
let databases: DatabaseServer;

before(async () => {
  world = new ProcessWorld();
  databases = await startDatabaseServer();
});

after(async () => {
  await world.close();
  await databases.stop();
});

const newKey = 'ab'.repeat(32);
const healthCheckMs = 100;

test('the seal key is rotated as documented under load: no request fails, and no response is forgotten', async (context) => {
  const first = { ...productionSettings(world, await databases.createDatabase()), CLOSING_NOTICE_SECONDS: '4' };
  const oldKey = first.SEAL_KEY;
  const opensBoth: Settings = { ...first, SEAL_KEYS_OLD: newKey };
  const sealsWithNew: Settings = { ...first, SEAL_KEY: newKey, SEAL_KEYS_OLD: oldKey };
  const withoutOld: Settings = { ...first, SEAL_KEY: newKey };
  const start = (settings: Settings) => world.startService(settings);
  const instances = await RollingInstances.start([start, start], first);
  const key = await createTestKey(world, first);
  const health = new HealthChecks(instances.ports, healthCheckMs);
  let requestNumber = 0;
  const nextPort = (): number => health.readyPorts[(requestNumber += 1) % health.readyPorts.length] ?? 0;
  const load = new Load({ clients: 16, requestsPerSecond: 50, key, nextPort, withKeys: true });
  try {
    await eventually('some responses are sealed with the old key', () => load.responses.size > 100);
    await instances.deploy(opensBoth, health);
    await instances.deploy(sealsWithNew, health);
    const resealed = await world.runOperator(sealsWithNew, ['secrets', 'reseal', '--json']);
    assert.equal(resealed.code, 0, resealed.stdout + resealed.stderr);
    const done = jsonOf<{ resealed: number; unreadable: number; retired_seal_keys: string[] }>(resealed);
    assert.ok(done.resealed > 100, resealed.stdout);
    assert.deepEqual([done.unreadable, done.retired_seal_keys.length], [0, 1], resealed.stdout);
    await instances.deploy(withoutOld, health);
  } finally {
    await load.stop();
    await health.stop();
  }
  context.diagnostic(`${load.succeeded} requests, ${load.responses.size} of them with an Idempotency-Key`);
  assert.deepEqual([...new Set(load.failures)], [], `${load.failures.length} of ${load.succeeded} requests failed`);
  const api = createApiClient(`http://127.0.0.1:${instances.ports[0]}`, key);
  for (const [idempotencyKey, text] of load.responses) {
    const again = await api.post('/v1/payments', { data: { amount: 100 } }, { 'idempotency-key': idempotencyKey });
    assert.equal(again.status, 201, again.text);
    assert.equal(again.text, text, 'the stored response');
  }
});
