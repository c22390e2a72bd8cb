import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { withAdminClient } from '../../server/src/database/admin-client.ts';
import { clusterDirectoryIn } from '../../server/src/database/embedded/cluster.ts';
import { findRunningServer } from '../../server/src/database/embedded/running-server.ts';
import { readServerFile } from '../../server/src/database/embedded/server-file.ts';
import { createApiClient } from '../harness/api-client.ts';
import type { ApiClient } from '../harness/api-client.ts';
import { ProcessWorld } from '../harness/process.ts';
import { processesIn, readDemo, readyAt } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { eventually } from '../harness/eventually.ts';

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

async function pay(api: ApiClient, accountNumber: string): Promise<string> {
  const data = { amount: 100, network: 'aps', account_number: accountNumber };
  const { status, body, text } = await api.post('/v1/payments', { data });
  assert.equal(status, 201, text);
  return String(body['payment_intent_id']);
}

// A slow machine must not gather more than it can work off afterwards.
const answeredMax = 300;

/** Merchants that pay without a pause until the service is gone; what was answered is in the list. */
function payUntilRefused(api: ApiClient, merchants: number): { answered: string[]; done: Promise<unknown> } {
  const answered: string[] = [];
  const merchant = async (): Promise<void> => {
    while (answered.length < answeredMax) answered.push(await pay(api, '7000001'));
  };
  return { answered, done: Promise.allSettled(Array.from({ length: merchants }, merchant)) };
}

/**
 * Leases end after a minute, and a network that knows nothing of a call after half of one is believed: this is that minute,
 * for what had been begun by then. What was begun since may still be on its way.
 */
async function letMinutePass(dataDirectory: string, begunBy: Date): Promise<void> {
  await withAdminClient(findRunningServer(dataDirectory) ?? '', (client) =>
    client.query(
      `UPDATE outbox SET due_at = due_at - interval '1 minute', created_at = created_at - interval '1 minute'
       WHERE created_at <= $1`,
      [begunBy],
    ),
  );
}

/** Before that a payment is given back to its payer when the process dies. */
async function untilNetworkHas(dataDirectory: string, intentId: string): Promise<void> {
  const text = `SELECT FROM charges JOIN simulator.sessions ON sessions.reference = charges.reference WHERE intent_id = $1`;
  await withAdminClient(findRunningServer(dataDirectory) ?? '', (client) =>
    eventually('the network has it', async () => (await client.query(text, [intentId])).rows.length === 1),
  );
}

/**
 * Waits until none of the payments is under way any more, and checks what became of them: paid, or given back to the
 * payer because the process died after it noted the call and before the network heard of it. Then nothing was taken,
 * and the call is not repeated blindly. Answers how many are paid.
 */
async function settle(api: ApiClient, ids: readonly string[]): Promise<number> {
  let paid = 0;
  for (const id of ids) {
    let status: unknown;
    await eventually(`${id} is settled`, async () => {
      const response = await api.get(`/v1/payments/${id}`);
      assert.equal(response.status, 200, `an answered payment is there: ${response.text}`);
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

/** Payments that the network collected and the service gave back to their payers. */
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
  const { answered, done } = payUntilRefused(api, merchants);
  await eventually('payments are under way', () => answered.length >= 60);
  // Its network says nothing to the call, and is found to have collected five seconds later.
  const pending = await pay(api, '7000005');
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
  await letMinutePass(dataDirectory, diedAt);
  const paid = await settle(again.api, answered);
  assert(paid > 0, `${paid} of ${answered.length} are paid`);
  assert.equal(await countUnbooked(dataDirectory), 0, 'what the network collected is paid');
  const meta = (await again.api.get('/v1/payments?limit=1')).body['meta'] as { total: number };
  const unanswered = meta.total - answered.length - 1;
  assert(unanswered >= 0 && unanswered <= merchants, 'besides, at most what was being answered is there');
  await assertLedgerBalances(dataDirectory);
  again.service.stop();
  assert.equal((await again.service.ended).code, 0);
  assert.deepEqual(processesIn(dataDirectory), []);
});

test('when PostgreSQL is killed the service says so and ends with 1, and the next start has everything', async () => {
  const dataDirectory = await world.usedDataDirectory();
  const { service, api } = await startInProcess(dataDirectory);
  const { answered, done } = payUntilRefused(api, merchants);
  await eventually('payments are under way', () => answered.length >= 20);
  process.kill(serverPid(dataDirectory), 'SIGKILL');
  await done;
  assert.equal((await service.ended).code, 1);
  assert.match(service.stderr(), /^The bundled PostgreSQL has stopped unexpectedly; see postgres\.log in [^\n]*\.\n$/);
  await eventually('its children are gone too', () => processesIn(dataDirectory).length === 0);

  const diedAt = new Date();
  const again = await startInProcess(dataDirectory);
  await letMinutePass(dataDirectory, diedAt);
  const paid = await settle(again.api, answered);
  assert(paid > 0, `${paid} of ${answered.length} are paid`);
  assert.equal(await countUnbooked(dataDirectory), 0, 'what the network collected is paid');
  await assertLedgerBalances(dataDirectory);
});

test('the service recovers by itself when one PostgreSQL process crashes', async () => {
  const dataDirectory = await world.usedDataDirectory();
  const { service, api, url } = await startInProcess(dataDirectory);
  const id = await pay(api, '7000001');
  const { rows } = await withAdminClient(findRunningServer(dataDirectory) ?? '', (client) =>
    client.query("SELECT pid FROM pg_stat_activity WHERE application_name = 'dalasi' LIMIT 1"),
  );
  process.kill(rows[0].pid, 'SIGKILL');
  const log = () => readFileSync(join(dataDirectory, 'postgres.log'), 'utf8');
  await eventually('PostgreSQL begins anew', () => log().includes('all server processes terminated; reinitializing'));
  await eventually('it is ready again', async () => (await fetch(`${url}/readyz`)).ok);
  const readyAgainAt = new Date();
  const later = await pay(api, '7000001');
  await letMinutePass(dataDirectory, readyAgainAt);
  await settle(api, [id, later]);
  service.stop();
  assert.deepEqual(await service.ended, { code: 0, signal: null });
});
