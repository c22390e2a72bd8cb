import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { withAdminClient } from '../../server/src/database/admin-client.ts';
import { clusterDirectoryIn } from '../../server/src/database/embedded/cluster.ts';
import { findRunningServer } from '../../server/src/database/embedded/running-server.ts';
import { readServerFile } from '../../server/src/database/embedded/server-file.ts';
import { createApiClient, createCharge, type ApiClient } from '../harness/api-client.ts';
import { effort } from '../harness/effort.ts';
import { ProcessWorld } from '../harness/process.ts';
import { processesIn, readDemo, readyAt, type Program } from '../harness/program.ts';
import { eventually } from '../harness/eventually.ts';
import { expireLeases } from '../harness/tables.ts';

let world: ProcessWorld;

before(() => {
  world = new ProcessWorld();
});

after(() => world.close());

const settingsOf = (dataDirectory: string) => ({ DATA_DIR: dataDirectory, LOG_LEVEL: 'silent' });

async function startInProcess(dataDirectory: string): Promise<{ service: Program; api: ApiClient; url: string }> {
  const service = world.startServiceInProcess(settingsOf(dataDirectory));
  return { service, ...(await connect(service, dataDirectory)) };
}

async function connect(service: Program, dataDirectory: string): Promise<{ api: ApiClient; url: string }> {
  const url = await readyAt(service);
  return { url, api: createApiClient(url, readDemo(dataDirectory).secret_key) };
}

function serverPid(dataDirectory: string): number {
  const pid = readServerFile(clusterDirectoryIn(dataDirectory))?.pid;
  assert(pid);
  return pid;
}

// A limit, so that a slow machine can finish them afterwards.
const createdMax = effort({ usual: 80, long: 150 });

/** Creates payments without a pause until the service is down; the list has those with a response. */
function payUntilRefused(api: ApiClient, merchants: number): { created: string[]; done: Promise<unknown> } {
  const created: string[] = [];
  const merchant = async (): Promise<void> => {
    while (created.length < createdMax) created.push(await createCharge(api));
  };
  return { created, done: Promise.allSettled(Array.from({ length: merchants }, merchant)) };
}

/** Waits until the network has the payment: if the process dies before that, the payment fails. */
async function untilNetworkHas(dataDirectory: string, intentId: string): Promise<void> {
  const text = `SELECT FROM charges JOIN simulator.sessions ON sessions.reference = charges.reference WHERE intent_id = $1`;
  await withAdminClient(findRunningServer(dataDirectory) ?? '', (client) =>
    eventually('the network has it', async () => (await client.query(text, [intentId])).rows.length === 1),
  );
}

/**
 * Waits until no payment is processing, and checks each: paid, or failed because the process died between recording the
 * call and sending it. Then the network collected nothing, and Dalasi does not repeat the call. Returns the number
 * paid.
 */
async function settle(api: ApiClient, ids: readonly string[]): Promise<number> {
  let paid = 0;
  for (const id of ids) {
    let status: unknown;
    await eventually(`${id} is settled`, async () => {
      const response = await api.get(`/v1/payments/${id}`);
      assert.equal(response.status, 200, `an acknowledged payment exists: ${response.text}`);
      status = response.body['status'];
      return status !== 'processing';
    });
    const { body } = await api.get(`/v1/transactions/${id}`);
    if (status === 'successful') paid += 1;
    else assert.deepEqual([status, body['failure_code']], ['requires_payment_method', 'network_unavailable']);
    assert.equal(body['status'], status === 'successful' ? 'completed' : 'failed');
  }
  return paid;
}

/** The number of payments that the network collected and the service marked as failed. */
async function countUnbooked(dataDirectory: string): Promise<number> {
  const text = `SELECT FROM charges JOIN simulator.sessions ON sessions.reference = charges.reference
    WHERE sessions.status = 'complete' AND charges.status <> 'completed'`;
  return withAdminClient(
    findRunningServer(dataDirectory) ?? '',
    async (client) => (await client.query(text)).rows.length,
  );
}

async function assertLedgerBalances(dataDirectory: string): Promise<void> {
  const { code, stdout, stderr } = await world.runOperatorInProcess({ DATA_DIR: dataDirectory }, ['ledger', 'verify']);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' }, stdout);
  assert.match(stdout, /^The ledger is correct: \d+ movements on \d+ accounts\.$/m);
}

const merchants = 8;

test('after kill -9 under load every acknowledged payment completes, and the ledger balances', async () => {
  const dataDirectory = await world.usedDataDirectory();
  const service = world.startService(settingsOf(dataDirectory));
  const { api } = await connect(service, dataDirectory);
  const { created, done } = payUntilRefused(api, merchants);
  await eventually('payments are under way', () => created.length >= effort({ usual: 30, long: 60 }));
  // Its network does not respond; a look-up five seconds later finds that it has collected.
  const pending = await createCharge(api, '7000005');
  await untilNetworkHas(dataDirectory, pending);
  const orphan = serverPid(dataDirectory);
  service.signal('SIGKILL');
  await done;
  assert.equal((await service.ended).signal, 'SIGKILL');
  assert.notDeepEqual(processesIn(dataDirectory), [], 'nobody told PostgreSQL to end');

  const diedAt = new Date();
  const again = await startInProcess(dataDirectory);
  assert.match(
    again.service.stdout(),
    new RegExp(`^Stopping the database server \\(process ${orphan}\\) that an earlier`, 'm'),
  );
  assert.notEqual(serverPid(dataDirectory), orphan);
  await eventually('the pending payment is paid', async () => {
    return (await again.api.get(`/v1/payments/${pending}`)).body['status'] === 'successful';
  });
  await expireLeases(findRunningServer(dataDirectory) ?? '', diedAt);
  const paid = await settle(again.api, created);
  assert(paid > 0, `${paid} of ${created.length} are paid`);
  assert.equal(await countUnbooked(dataDirectory), 0, 'what the network collected is paid');
  const meta = (await again.api.get('/v1/payments?limit=1')).body['meta'] as { total: number };
  const unacknowledged = meta.total - created.length - 1;
  assert(
    unacknowledged >= 0 && unacknowledged <= merchants,
    'besides these there is at most one payment in progress for each merchant',
  );
  await assertLedgerBalances(dataDirectory);
  again.service.stop();
  assert.equal((await again.service.ended).code, 0);
  assert.deepEqual(processesIn(dataDirectory), []);
});

test('when PostgreSQL is killed the service reports it and exits with 1; a restart loses nothing', async () => {
  const dataDirectory = await world.usedDataDirectory();
  const { service, api } = await startInProcess(dataDirectory);
  const { created, done } = payUntilRefused(api, merchants);
  await eventually('payments are under way', () => created.length >= 20);
  process.kill(serverPid(dataDirectory), 'SIGKILL');
  await done;
  assert.equal((await service.ended).code, 1);
  assert.match(service.stderr(), /^The bundled PostgreSQL has stopped unexpectedly; see postgres\.log in [^\n]*\.\n$/);
  await eventually('its children are gone too', () => processesIn(dataDirectory).length === 0);

  const diedAt = new Date();
  const again = await startInProcess(dataDirectory);
  await expireLeases(findRunningServer(dataDirectory) ?? '', diedAt);
  const paid = await settle(again.api, created);
  assert(paid > 0, `${paid} of ${created.length} are paid`);
  assert.equal(await countUnbooked(dataDirectory), 0, 'what the network collected is paid');
  await assertLedgerBalances(dataDirectory);
});

test('the service recovers by itself when one PostgreSQL process crashes', async () => {
  const dataDirectory = await world.usedDataDirectory();
  const { service, api, url } = await startInProcess(dataDirectory);
  const id = await createCharge(api);
  const { rows } = await withAdminClient(findRunningServer(dataDirectory) ?? '', (client) =>
    client.query("SELECT pid FROM pg_stat_activity WHERE application_name = 'dalasi' LIMIT 1"),
  );
  process.kill(rows[0].pid, 'SIGKILL');
  const log = () => readFileSync(join(dataDirectory, 'postgres.log'), 'utf8');
  await eventually('PostgreSQL begins anew', () => log().includes('all server processes terminated; reinitializing'));
  await eventually('it is ready again', async () => (await fetch(`${url}/readyz`)).ok);
  const readyAgainAt = new Date();
  const later = await createCharge(api);
  await expireLeases(findRunningServer(dataDirectory) ?? '', readyAgainAt);
  await settle(api, [id, later]);
  service.stop();
  assert.deepEqual(await service.ended, { code: 0, signal: null });
});
