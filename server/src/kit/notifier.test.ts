import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { openTestDatabase } from '../../../test/harness/open-test-database.ts';
import { withAdminClient } from '../database/admin-client.ts';
import type { Topic } from './changes.ts';
import type { Database } from './db.ts';
import { startNotifier, type Notifier } from './notifier.ts';

let database: TestDatabase;
let db: Database;
let clock: ManualClock;
/** Two processes on one database. */
let here: Notifier;
let there: Notifier;
let errors: unknown[];

const gatherMs = 4;
const reconnectMs = 1_000;

before(async () => {
  database = await createTestDatabase();
  db = openTestDatabase(database, { connectionsMax: 2 });
});

beforeEach(async () => {
  clock = new ManualClock();
  errors = [];
  here = await start();
  there = await start();
});

afterEach(async () => {
  await here.close();
  await there.close();
});

after(async () => {
  await db.close();
  await database.drop();
});

function start(): Promise<Notifier> {
  return startNotifier({ db, clock, onError: (error) => errors.push(error) });
}

function listen(notifier: Notifier, topic: Topic): { count: number } {
  const received = { count: 0 };
  notifier.subscribe(topic, () => (received.count += 1));
  return received;
}

function listeningConnections(): Promise<number> {
  return withAdminClient(database.adminUrl, async (client) => {
    const { rows } = await client.query<{ count: number }>(
      `SELECT count(*)::integer AS count FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'dalasi listener'`,
    );
    return rows[0]?.count ?? 0;
  });
}

async function endListeningConnections(): Promise<void> {
  await withAdminClient(database.adminUrl, (client) =>
    client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'dalasi listener'`,
    ),
  );
  await eventually('they have ended', async () => (await listeningConnections()) === 0);
}

test('a hint reaches the listeners of this process at once, and once', async () => {
  const received = listen(here, 'intent:1');
  here.notify('intent:1');
  assert.equal(received.count, 1);
  const elsewhere = listen(there, 'intent:1');
  await clock.advance(gatherMs);
  await eventually('the other process has received it', () => elsewhere.count === 1);
  assert.equal(received.count, 1, 'the database told it again');
});

test('a hint reaches the listeners of another process, those of its topic and of its kind', async () => {
  const topic = listen(there, 'work_networks:shop:1');
  const other = listen(there, 'work_networks:shop:2');
  const kinds: string[] = [];
  there.subscribeKind('work_networks', (which) => kinds.push(which));
  here.notify('work_networks:shop:1');
  here.notify('work_webhooks:shop:1');
  await clock.advance(gatherMs);
  await eventually('it is received there', () => topic.count > 0);
  assert.deepEqual([topic.count, other.count], [1, 0]);
  assert.deepEqual(kinds, ['shop:1']);
});

test('an ended subscription gets no more hints', () => {
  let received = 0;
  const leave = here.subscribe('intent:1', () => (received += 1));
  const stay = listen(here, 'intent:1');
  leave();
  here.notify('intent:1');
  assert.deepEqual([received, stay.count], [0, 1]);
});

test('a burst is sent as one notification, the same hint once', async () => {
  const notifications: string[] = [];
  const client = await db.dedicatedClient();
  client.on('notification', ({ payload }) => notifications.push(payload ?? ''));
  await client.query('LISTEN dalasi_changes');
  for (const topic of ['intent:1', 'intent:2', 'intent:1'] as const) here.notify(topic);
  await clock.advance(gatherMs);
  await eventually('the burst has come', () => notifications.length > 0);
  await client.end();
  assert.deepEqual(notifications, ['intent:1\nintent:2']);
});

test('more hints than one notification holds all arrive', async () => {
  const received = new Set<string>();
  there.subscribeKind('intent', (which) => received.add(which));
  const ids = Array.from({ length: 1_000 }, (_, index) => `${'0'.repeat(30)}${index}`);
  for (const id of ids) here.notify(`intent:${id}`);
  await clock.advance(gatherMs);
  await eventually('all have come', () => received.size === ids.length);
  assert.deepEqual(errors, []);
});

test('a failing listener is reported, and affects neither the caller nor other listeners', async () => {
  const mistake = new Error('a mistake of a listener');
  for (const notifier of [here, there]) {
    notifier.subscribe('intent:1', () => {
      throw mistake;
    });
  }
  const near = listen(here, 'intent:1');
  const far = listen(there, 'intent:1');
  here.notify('intent:1');
  assert.equal(near.count, 1);
  assert.deepEqual(errors, [mistake]);
  await clock.advance(gatherMs);
  await eventually('the other process has received it', () => far.count === 1);
  assert.deepEqual(errors, [mistake, mistake]);
});

test('after a lost connection the notifier reconnects, and hints arrive again', async () => {
  await endListeningConnections();
  const received = listen(there, 'intent:1');
  const near = listen(here, 'intent:1');
  here.notify('intent:1');
  assert.equal(near.count, 1, 'this process receives it without a database');
  await clock.advance(gatherMs);
  await clock.untilSleeping(2);
  await clock.advance(reconnectMs);
  await eventually('both listen again', async () => (await listeningConnections()) === 2);
  await eventually('a hint arrives there', async () => {
    here.notify('intent:1');
    await clock.advance(gatherMs);
    return received.count > 0;
  });
});

test('a database that stays unreachable is reported once per outage', async (context) => {
  let isAway = false;
  let tries = 0;
  const dedicatedClient = () => {
    tries += 1;
    return isAway ? Promise.reject(new Error('the database is away')) : db.dedicatedClient();
  };
  const reported: unknown[] = [];
  const notifier = await startNotifier({ db: { dedicatedClient }, clock, onError: (error) => reported.push(error) });
  context.after(() => notifier.close());
  for (const times of [1, 2]) {
    isAway = true;
    tries = 0;
    await endListeningConnections();
    await eventually('it has tried three times', async () => {
      await clock.advance(reconnectMs);
      return tries >= 3;
    });
    isAway = false;
    await eventually('all listen again', async () => {
      await clock.advance(reconnectMs);
      return (await listeningConnections()) === 3;
    });
    assert.equal(reported.length, times);
  }
});

test('closing does not wait for the clock, and sends the queued hints', async () => {
  const received = listen(there, 'intent:1');
  here.notify('intent:1');
  await here.close();
  await eventually('it is received there', () => received.count === 1);
});

test('closing during a reconnect leaves no connection', async () => {
  await endListeningConnections();
  await clock.untilSleeping(2);
  const reconnecting = clock.advance(reconnectMs);
  await Promise.all([here.close(), there.close()]);
  await reconnecting;
  await eventually('nobody listens any more', async () => (await listeningConnections()) === 0);
});
