import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { withAdminClient } from '../../server/src/database/admin-client.ts';
import { findLiveOwner } from '../../server/src/database/embedded/data-directory-lock.ts';
import { findRunningServer } from '../../server/src/database/embedded/running-server.ts';
import { createApiClient, type ApiClient } from '../harness/api-client.ts';
import { effort } from '../harness/effort.ts';
import { ProcessWorld } from '../harness/process.ts';
import { assertStopsCleanly, processesIn, readDemo, readyAt, type Program } from '../harness/program.ts';
import { eventually } from '../harness/eventually.ts';

let world: ProcessWorld;

before(() => {
  world = new ProcessWorld();
});

after(() => world.close());

interface Running<Service extends Program = Program> {
  dataDirectory: string;
  service: Service;
  url: string;
  api: ApiClient;
}

const startProcess = () => start((settings) => world.startService(settings));
const startInProcess = () => start((settings) => world.startServiceInProcess(settings));

async function start<Service extends Program>(
  startService: (settings: { DATA_DIR: string }) => Service,
): Promise<Running<Service>> {
  const dataDirectory = await world.usedDataDirectory();
  const service = startService({ DATA_DIR: dataDirectory });
  const url = await readyAt(service);
  return { dataDirectory, service, url, api: createApiClient(url, readDemo(dataDirectory).secret_key) };
}

async function createPayment(api: ApiClient): Promise<string> {
  const { status, body, text } = await api.post('/v1/payments', { data: { amount: 100 } });
  assert.equal(status, 201, text);
  return String(body['payment_intent_id']);
}

// A statement's timeout is ten seconds. On a machine so busy that our part takes longer, the request is refused and
// shows nothing about stopping.
const attemptsMax = 4;
// Not a row lock: the service waits only a second for one.
const holdChanges = `
  CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    WHILE EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711) LOOP PERFORM pg_sleep(0.01); END LOOP;
    RETURN NEW;
  END $$;
  CREATE TRIGGER held BEFORE UPDATE ON payment_intents FOR EACH ROW EXECUTE FUNCTION hold()`;

/** Stops the service while one of its requests waits in the database for us; undefined when we were too slow. */
async function stopWhileCancelling({ service, api, dataDirectory }: Running, id: string) {
  const connectionString = findRunningServer(dataDirectory) ?? '';
  const [locker, watcher] = [new pg.Client({ connectionString }), new pg.Client({ connectionString })];
  // The database stops while they are connected.
  for (const client of [locker, watcher]) await client.on('error', () => {}).connect();
  await locker.query(holdChanges);
  await locker.query('SELECT pg_advisory_lock(4711)');
  let hasResponded = false;
  const cancelling = api.post(`/v1/payments/${id}/cancel`).finally(() => {
    hasResponded = true;
  });
  const waiting = "SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND application_name = 'dalasi'";
  const isHeld = async () => hasResponded || (await watcher.query(waiting)).rows.length > 0;
  await eventually('the request waits in the database', isHeld);
  service.stop();
  await service.printed(/^Stopping: /m);
  await locker.query('SELECT pg_advisory_unlock(4711)').catch(() => {});
  const response = await cancelling;
  await Promise.allSettled([locker.end(), watcher.end()]);
  return response.status === 503 ? undefined : response;
}

async function statusAfterRestart({ dataDirectory }: Running, id: string): Promise<unknown> {
  const service = world.startServiceInProcess({ DATA_DIR: dataDirectory });
  const api = createApiClient(await readyAt(service), readDemo(dataDirectory).secret_key);
  const { body } = await api.get(`/v1/payments/${id}`);
  service.stop();
  await assertStopsCleanly({ service, dataDirectory });
  return body['status'];
}

describe('a service that is told to stop', () => {
  test('finishes a request that waits in the database, and its change is stored', async () => {
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      const running = await startInProcess();
      const id = await createPayment(running.api);
      const response = await stopWhileCancelling(running, id);
      await assertStopsCleanly(running);
      if (!response) continue;
      assert.equal(response.status, 200, response.text);
      assert.equal(response.body['status'], 'cancelled');
      assert.equal(response.headers.get('connection'), 'close', 'the client sends its next request elsewhere');
      assert.equal(await statusAfterRestart(running, id), 'cancelled');
      return;
    }
    assert.fail('the request was never held while the service stopped');
  });

  test('by Ctrl-C responds to requests still arriving; further signals change nothing', async () => {
    const running = await startProcess();
    const { service, url, dataDirectory } = running;
    const agent = new Agent({ keepAlive: true });
    const body = JSON.stringify({ data: { amount: 100 } });
    const sending = request(`${url}/v1/payments`, {
      method: 'POST',
      agent,
      headers: {
        authorization: `Bearer ${readDemo(dataDirectory).secret_key}`,
        'content-type': 'application/json',
        'content-length': body.length,
      },
    });
    const responding = once(sending, 'response') as Promise<[IncomingMessage]>;
    await new Promise((resolve) => sending.write(body.slice(0, 9), resolve));
    const head = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('utf8');
    await new Promise((resolve) => head.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n', resolve));
    await eventually('the request is under way', async () => (await fetch(`${url}/healthz`)).ok);

    service.signal('SIGINT');
    await service.printed(/^Stopping: /m);
    for (const more of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGINT'] as const) service.signal(more);
    const wholeResponse = readText(head);
    head.write('\r\n');
    assert.match(await wholeResponse, /^HTTP\/1\.1 200 OK\r\n[\s\S]*connection: close\r\n[\s\S]*\{"status":"ok"\}/i);
    sending.end(body.slice(9));
    const [response] = await responding;
    assert.equal(response.statusCode, 201);
    response.resume();
    await assertStopsCleanly(running);
    agent.destroy();
  });

  test('by a closed terminal closes connections that only wait: idle, a page’s stream, a network’s', async () => {
    const running = await startProcess();
    const { service, url, api } = running;
    const agent = new Agent({ keepAlive: true });
    const idle = request(`${url}/healthz`, { agent });
    idle.end();
    const [response] = (await once(idle, 'response')) as [IncomingMessage];
    await once(response.resume(), 'end');
    const { body } = await api.post('/v1/payments', {
      data: { amount: 100, network: 'wave', account_number: '7000005' },
    });
    const stream = await fetch(`${String(body['payment_link'])}/status`, { headers: { accept: 'text/event-stream' } });
    assert.equal(stream.status, 200);

    service.signal('SIGHUP');
    await assertStopsCleanly(running);
    await stream.text();
    agent.destroy();
  });

  test('by SIGTERM ends also when its output is no longer read', async () => {
    const dataDirectory = await world.usedDataDirectory();
    const piped = world.start(['sh', '-c', `"$0" server/src/main.ts | head -n 2`, process.execPath], {
      DATA_DIR: dataDirectory,
      PORT: '0',
      LOG_LEVEL: 'error',
    });
    const url = await readyAt(piped);
    const pid = findLiveOwner(dataDirectory);
    assert(pid);
    await eventually('it serves', async () => (await fetch(`${url}/readyz`)).ok);
    process.kill(pid, 'SIGTERM');
    await piped.ended;
    await eventually('it ended', () => processesIn(dataDirectory).length === 0);
    assert.equal(piped.stderr(), '');
  });

  test('neither loses nor fails payments in progress', async () => {
    const running = await startInProcess();
    const { service, api, dataDirectory } = running;
    const created: string[] = [];
    const statuses = new Set<number>();
    const merchant = async (): Promise<void> => {
      // As many as are created while it stops on a slow machine; on a fast one they would be a thousand, which take long.
      while (created.length < effort({ usual: 100, long: 200 })) {
        const data = { amount: 100, network: 'aps', account_number: '7000001' };
        const { status, body } = await api.post('/v1/payments', { data });
        statuses.add(status);
        if (status === 201) created.push(String(body['payment_intent_id']));
      }
    };
    const merchants = Array.from({ length: 8 }, () => merchant().catch(() => 'refused'));
    await eventually('payments are under way', () => created.length >= effort({ usual: 20, long: 40 }));
    service.stop();
    await Promise.all(merchants);
    await assertStopsCleanly(running);
    assert.deepEqual(
      [...statuses].filter((status) => status !== 201 && status !== 503),
      [],
    );

    const again = world.startServiceInProcess({ DATA_DIR: dataDirectory });
    const later = createApiClient(await readyAt(again), readDemo(dataDirectory).secret_key);
    for (const id of created) {
      let status: unknown;
      await eventually(`${id} is not under way any more`, async () => {
        status = (await later.get(`/v1/payments/${id}`)).body['status'];
        return status !== 'processing';
      });
      assert.equal(status, 'successful', (await later.get(`/v1/payments/${id}/timeline`)).text);
    }
    const rows = await withAdminClient(findRunningServer(dataDirectory) ?? '', (client) =>
      client.query('SELECT id FROM charges WHERE attempt > 1 OR status <> $1', ['completed']),
    );
    assert.deepEqual(rows.rows, [], 'each was paid at the first attempt');
  });
});
