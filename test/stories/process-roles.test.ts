import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { withAdminClient } from '../../server/src/database/admin-client.ts';
import { readConfig } from '../../server/src/configuration/config.ts';
import { changeConnectionUrl } from '../../server/src/database/connection-url.ts';
import { servingUrlOf } from '../../server/src/database/roles.ts';
import { systemRandom } from '../../server/src/kit/random.ts';
import { readSecrets } from '../../server/src/configuration/secrets.ts';
import { errorCode } from '../../server/src/kit/start-error.ts';
import { createApiClient, createCharge, type ApiClient } from '../harness/api-client.ts';
import { startCallbackReceiver, type CallbackReceiver } from '../harness/callback-receiver.ts';
import { startDatabaseServer, type DatabaseServer } from '../harness/database-server.ts';
import { effort } from '../harness/effort.ts';
import { ProcessWorld, type TestProcess } from '../harness/process.ts';
import { readDemo, readyAt, type Program } from '../harness/program.ts';
import type { Settings } from '../harness/service-world.ts';
import { eventually } from '../harness/eventually.ts';
import { expireLeases } from '../harness/tables.ts';
import {
  createTestKey,
  HealthChecks,
  Load,
  productionSettings,
  RollingInstances,
} from '../harness/rolling-restarts.ts';

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

describe('two API services and two workers on one database, one of each in a process of its own', () => {
  let receiver: CallbackReceiver;
  let adminUrl: string;
  let settings: Record<string, string>;
  let apis: Program[];
  let victim: TestProcess;
  let survivor: Program;
  let clients: [ApiClient, ApiClient];

  before(async () => {
    receiver = await startCallbackReceiver();
    adminUrl = await databases.createDatabase();
    settings = {
      APP_ENV: 'development',
      DATABASE_URL: adminUrl,
      DATA_DIR: world.newDataDirectory(),
      DEMO_WEBHOOK_URL: `${receiver.url}/events`,
    };
    // Concurrently, on an empty database and directory: they have to agree on schema, secrets and demo merchant.
    const api = { ...settings, ROLE: 'api' };
    apis = [world.startService(api), world.startServiceInProcess(api)];
    const [first = '', second = ''] = await Promise.all(apis.map(readyAt));
    const worker = { ...settings, ROLE: 'worker', INTERNAL_URL: first };
    [victim, survivor] = [world.startService(worker), world.startServiceInProcess(worker)];
    const listening = await Promise.all([victim, survivor].map(readyAt));
    for (const url of listening) assert.equal((await fetch(`${url}/healthz`)).status, 200, 'its own address is told');
    const { secret_key: key } = readDemo(settings['DATA_DIR'] ?? '');
    clients = [createApiClient(first, key), createApiClient(second, key)];
  });

  after(() => receiver.close());

  test('share one demo merchant, whose key works at both', async () => {
    const listed = await world.runOperatorInProcess(settings, ['businesses', 'list', '--json']);
    assert.equal(JSON.parse(listed.stdout).length, 2, 'one business: a test and a live merchant');
    for (const api of clients) assert.equal((await api.get('/v1/payments')).status, 200);
  });

  test('show a payment at once at both, and as paid once a worker has collected it', async () => {
    const [one, other] = clients;
    const id = await createCharge(one);
    const seen = await other.get(`/v1/payments/${id}`);
    assert.equal(seen.status, 200, seen.text);
    for (const api of clients) await eventually('it is paid', () => isPaid(api, id));
    await eventually('the merchant hears of it', () => succeededIntents().has(id));
  });

  test('lose no payment when a worker is killed', async () => {
    const ids: string[] = [];
    let diedAt = new Date();
    const merchant = async (api: ApiClient): Promise<void> => {
      for (let count = 0; count < effort({ usual: 10, long: 25 }); count += 1) {
        ids.push(await createCharge(api));
        if (ids.length !== 20) continue;
        victim.signal('SIGKILL');
        await victim.ended;
        diedAt = new Date();
      }
    };
    await Promise.all([...clients, ...clients].map(merchant));
    assert.equal((await victim.ended).signal, 'SIGKILL');
    await expireLeases(adminUrl, diedAt);
    await withAdminClient(adminUrl, (client) =>
      // Now, as when a lease ends: what fell due long ago a sweep finds later.
      client.query('UPDATE webhook_deliveries SET next_attempt_at = least(next_attempt_at, clock_timestamp())'),
    );
    const settled = new Map<string, unknown>();
    for (const id of ids) {
      await eventually(`${id} is settled`, async () => {
        settled.set(id, (await clients[1].get(`/v1/payments/${id}`)).body['status']);
        return settled.get(id) !== 'processing';
      });
    }
    const paid = ids.filter((id) => settled.get(id) === 'successful');
    assert(paid.length >= ids.length - inFlightMax, `${paid.length} of ${ids.length} are paid`);
    await eventually('the merchant hears of each that is paid', () => paid.every((id) => succeededIntents().has(id)));
    const verified = await world.runOperatorInProcess(settings, ['ledger', 'verify']);
    assert.equal(verified.code, 0, verified.stdout);
  });

  test('refuse a revoked key within five seconds', async () => {
    const listed = await world.runOperatorInProcess(settings, ['businesses', 'list', '--json']);
    const merchants = JSON.parse(listed.stdout) as { merchant_id: string; test_mode: boolean }[];
    const merchant = merchants.find(({ test_mode: testMode }) => testMode)?.merchant_id ?? '';
    const made = await world.runOperatorInProcess(settings, ['keys', 'create', '--merchant', merchant, '--json']);
    const { id, secret_key: key } = JSON.parse(made.stdout) as { id: string; secret_key: string };
    const urls = await Promise.all(apis.map(readyAt));
    const callers = urls.map((url) => createApiClient(url, key));
    for (const api of callers) assert.equal((await api.get('/v1/payments')).status, 200);

    const revoked = await world.runOperatorInProcess(settings, ['keys', 'revoke', id, '--merchant', merchant]);
    const revokedMs = performance.now();
    assert.equal(revoked.code, 0, revoked.stderr);
    for (const api of callers) {
      await eventually('the key is refused', async () => {
        // Counts from the request, not from the response of a busy machine.
        const requestedMs = performance.now();
        const { status } = await api.get('/v1/payments');
        assert(status === 401 || requestedMs - revokedMs < 5_000, `${status} for a key that was revoked`);
        return status === 401;
      });
    }
    assert.equal((await clients[0].get('/v1/payments')).status, 200, 'the merchant’s other key still works');
  });

  test('connect as a role that cannot update, delete or truncate movements', async () => {
    const { rows } = await withAdminClient(adminUrl, (client) =>
      client.query(
        `SELECT DISTINCT usename AS role FROM pg_stat_activity
         WHERE datname = current_database() AND application_name IN ('dalasi', 'dalasi listener')`,
      ),
    );
    const { servingPassword: password } = readSecrets(readConfig(settings), systemRandom);
    const servingUrl = servingUrlOf(adminUrl, { password });
    const role = new URL(servingUrl).username;
    assert.deepEqual(rows, [{ role }]);
    assert.match(role, /^dalasi_app_test_/, 'a database that is not called dalasi has a role of its own');
    for (const statement of [
      'UPDATE ledger_movements SET amount = amount + 1',
      'DELETE FROM ledger_movements',
      'TRUNCATE ledger_movements',
      'ALTER TABLE ledger_movements DISABLE TRIGGER ALL',
      'DROP TABLE ledger_movements',
      `ALTER ROLE ${role} SUPERUSER`,
    ]) {
      await assert.rejects(
        withAdminClient(servingUrl, (client) => client.query(statement)),
        (error) => errorCode(error) === '42501',
        statement,
      );
    }
    const { rows: counted } = await withAdminClient(servingUrl, (client) =>
      client.query('SELECT count(*)::integer AS count FROM ledger_movements'),
    );
    assert(counted[0].count > 0, 'there was something to change');
  });

  test('exit with 0 on SIGTERM', async () => {
    const all = [...apis, survivor];
    for (const service of all) service.stop();
    for (const service of all) assert.deepEqual(await service.ended, { code: 0, signal: null }, service.stderr());
  });

  /** The intents whose `charge.succeeded` arrived. */
  function succeededIntents(): Set<string> {
    const events = receiver.received.map(({ body }) => JSON.parse(body.toString()));
    return new Set(
      events.filter(({ event }) => event === 'charge.succeeded').map(({ data }) => data.payment_intent_id),
    );
  }
});

// Many checks may be late on a busy machine, and one still happens within the notice.
const healthCheckMs = 100;
const exitMaxMs = 25_000;

test('two instances that are restarted alternately under sixteen clients lose no request', async () => {
  const settings = {
    ...productionSettings(world, await databases.createMigratedDatabase()),
    CLOSING_NOTICE_SECONDS: '4',
  };
  const startProcess = (own: Settings) => world.startService(own);
  const startInProcess = (own: Settings) => world.startServiceInProcess(own);
  const starters = [startProcess, effort({ usual: startInProcess, long: startProcess })] as const;
  const instances = await RollingInstances.start(starters, settings);
  const key = await createTestKey(world, settings);
  const health = new HealthChecks(instances.ports, healthCheckMs);
  let requestNumber = 0;
  const nextPort = (): number => {
    const { readyPorts } = health;
    requestNumber += 1;
    return readyPorts[requestNumber % readyPorts.length] ?? 0;
  };
  // Nothing else runs beside the long run.
  const requestsPerSecond = effort({ usual: 25, long: 200 });
  const load = new Load({ clients: 16, requestsPerSecond, key, nextPort });
  try {
    for (let restart = 0; restart < effort({ usual: 2, long: 20 }); restart += 1) {
      await eventually('both are ready', () => health.readyPorts.length === 2);
      await instances.restart(restart);
    }
  } finally {
    await load.stop();
    await health.stop();
  }
  assert.deepEqual([...new Set(load.failures)], [], `${load.failures.length} of ${load.succeeded} requests were lost`);
  const { rows } = await withAdminClient(settings.DATABASE_URL, (client) =>
    client.query('SELECT id FROM payment_intents'),
  );
  assert.deepEqual(
    rows.map(({ id }) => id).toSorted(),
    load.created.toSorted(),
    'each acknowledged payment exists, once',
  );
  assert(Math.max(...instances.exitMs) <= exitMaxMs, `ended after ${instances.exitMs.join(', ')} ms`);
});

test('a stopping production server reports closing at /readyz and still serves requests', async () => {
  const settings = {
    ...productionSettings(world, await databases.createMigratedDatabase()),
    CLOSING_NOTICE_SECONDS: '1',
  };
  const service = world.startServiceInProcess(settings);
  const ownUrl = await readyAt(service);
  assert.match(ownUrl, /^http:\/\/localhost:\d+$/);
  await service.printed(/^ {2}Public address +https:\/\/pay\.example\.gm$/m);
  assert.doesNotMatch(service.stdout(), /sk_test|curl|Simulated phone/, 'there is no demo in production');
  assert(!existsSync(settings.DATA_DIR), 'and no file of it');
  const key = await createTestKey(world, settings);
  const url = ownUrl.replace('localhost', settings.HOST);
  const api = createApiClient(url, key);
  assert.equal((await fetch(`${url}/readyz`)).status, 200);

  service.stop();
  await service.printed(/^Stopping: /m);
  const readiness = await fetch(`${url}/readyz`);
  assert.equal(readiness.status, 503);
  assert.equal(readiness.headers.get('connection'), 'close');
  assert.match(await readiness.text(), /"closing":true/);
  const response = await api.post('/v1/payments', { data: { amount: 100 } });
  assert.equal(response.status, 201, response.text);
  assert.equal(response.headers.get('connection'), 'close');
  assert.deepEqual(await service.ended, { code: 0, signal: null }, service.stderr());
});

test('no request fails while the owner’s password is rotated, commands run and a service starts', async () => {
  // An owner role as an operator creates it, besides the server's superuser.
  const asSuperuser = await databases.createDatabase();
  const name = new URL(asSuperuser).pathname.slice(1);
  const owner = `owner_${name.slice(-8)}`;
  await withAdminClient(asSuperuser, async (client) => {
    await client.query(`CREATE ROLE ${owner} LOGIN CREATEROLE PASSWORD 'first'`);
    await client.query(`ALTER DATABASE ${name} OWNER TO ${owner}`);
  });
  const urlWith = (password: string) => changeConnectionUrl(asSuperuser, { user: owner, password });
  const settings = {
    APP_ENV: 'production',
    SEAL_KEY: 'cd'.repeat(32),
    KEY_PEPPER: 'ef'.repeat(32),
    HOST: '127.0.0.1',
    PUBLIC_URL: 'https://pay.example.gm',
    RATE_LIMIT_TEST: '0',
    CLOSING_NOTICE_SECONDS: '0',
    DATA_DIR: world.newDataDirectory(),
  };
  const before = { ...settings, DATABASE_URL: urlWith('first') };
  const after = { ...settings, DATABASE_URL: urlWith('second') };
  const service = world.startServiceInProcess(before);
  const url = (await readyAt(service)).replace('localhost', settings.HOST);
  const created = await world.runOperatorInProcess(before, ['businesses', 'create', 'Kairaba Books', '--json']);
  const merchant = JSON.parse(created.stdout).test.merchant_id as string;
  const made = await world.runOperatorInProcess(before, ['keys', 'create', '--merchant', merchant, '--json']);
  const api = createApiClient(url, JSON.parse(made.stdout).secret_key);

  const statuses: number[] = [];
  let isOver = false;
  const client = async (): Promise<void> => {
    while (!isOver) statuses.push((await api.post('/v1/payments', { data: { amount: 100 } })).status);
  };
  const clients = [client()];
  const more = async (): Promise<void> => {
    const goal = statuses.length + 40;
    await eventually('requests go on', () => statuses.length >= goal);
  };
  await more();
  await withAdminClient(asSuperuser, (admin) => admin.query(`ALTER ROLE ${owner} PASSWORD 'second'`));
  const listed = await world.runOperatorInProcess(after, ['businesses', 'list']);
  assert.equal(listed.code, 0, listed.stderr);
  const other = world.startServiceInProcess(after);
  await readyAt(other);
  // More at once than before, so that the first service has to open new connections.
  clients.push(...Array.from({ length: 15 }, client));
  await more();
  isOver = true;
  await Promise.all(clients);
  assert.deepEqual([...new Set(statuses)], [201]);
  assert.equal((await fetch(`${url}/readyz`)).status, 200);
  const foreign = await world.runOperatorInProcess({ ...after, KEY_PEPPER: 'ab'.repeat(32) }, ['businesses', 'list']);
  assert.match(foreign.stderr, /^KEY_PEPPER is not the one that the API keys of this database are stored under; /);
  for (const started of [service, other]) started.stop();
});

// A worker's concurrent calls for one merchant. If its process dies between recording a call and sending it, the
// payment fails, because Dalasi does not repeat a call.
const inFlightMax = 16;

async function isPaid(api: ApiClient, id: string): Promise<boolean> {
  return (await api.get(`/v1/payments/${id}`)).body['status'] === 'successful';
}
