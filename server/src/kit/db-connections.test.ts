import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { withAdminClient } from '../database/admin-client.ts';
import { changeConnectionUrl } from '../database/connection-url.ts';
import { PublicError } from './public-error.ts';
import { systemClock } from './clock.ts';
import { openDatabase, type Database, type Statement } from './db.ts';

interface PidRow {
  pid: number;
}

const pidStatement: Statement = { name: 'test_pid', text: 'SELECT pg_backend_pid() AS pid', values: [] };

let database: TestDatabase;

before(async () => {
  database = await createTestDatabase();
});

after(() => database.drop());

/** A pool, and what it told of lost connections. */
function open(connectionsMax: number): { db: Database; lost: Error[] } {
  const lost: Error[] = [];
  const onConnectionError = (error: Error): void => void lost.push(error);
  const options = { url: database.appUrl, connectionsMax, clock: systemClock, onConnectionError, isPatient: true };
  return { db: openDatabase(options), lost };
}

test('each lost connection is reported once: idle, in a transaction, or the listener’s', async () => {
  const { db: three, lost } = open(3);
  const listener = await three.dedicatedClient();
  const ended = new Promise<void>((resolve) => listener.once('end', resolve));
  const pids = [(await listener.query<PidRow>(pidStatement.text)).rows[0]?.pid ?? 0];
  const [allHold, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const [held, ...others] = [1n, 2n, 3n].map((id) =>
    three.withTransaction(async (tx) => {
      const row = await tx.row<PidRow>(pidStatement);
      if (pids.push(row?.pid ?? 0) === 4) allHold.resolve();
      await allHold.promise;
      if (id === 1n) await mayEnd.promise;
    }),
  );
  await Promise.all(others);
  await withAdminClient(database.adminUrl, (client) =>
    client.query('SELECT pg_terminate_backend(pid) FROM unnest($1::integer[]) AS pid', [pids]),
  );
  await eventually('each was told', () => lost.length >= 4);
  await ended;
  mayEnd.resolve();
  await assert.rejects(held ?? Promise.resolve(), /PublicError: The service cannot reach its database/);
  await three.close();
  assert.equal(lost.length, 4, lost.map(String).join('\n'));
});

test('keep-alive probes find a connection whose other end has vanished', async (t) => {
  const keepAliveCalls = t.mock.method(Socket.prototype, 'setKeepAlive');
  const { db: one } = open(1);
  const listener = await one.dedicatedClient();
  await one.row(pidStatement);
  await listener.end();
  await one.close();
  const calls = keepAliveCalls.mock.calls.map((call) => call.arguments);
  assert.deepEqual(calls, [
    [true, 10_000],
    [true, 10_000],
  ]);
});

test('a statement that commits asynchronously changes no other one, and fails with its own error', async () => {
  const durable = new URL(database.appUrl);
  durable.searchParams.set('options', '-c synchronous_commit=on');
  const one = openDatabase({ url: durable.href, connectionsMax: 1, clock: systemClock, onConnectionError: () => {} });
  const usual: Statement = {
    ...{ name: 'test_synchronous_commit', values: [] },
    text: "SELECT current_setting('synchronous_commit') AS setting",
  };
  const asynchronous: Statement = { ...usual, commitsAsynchronously: true };
  assert.deepEqual(await Promise.all([one.row(asynchronous), one.row(usual)]), [{ setting: 'off' }, { setting: 'on' }]);
  assert.deepEqual(await one.withTransaction((tx) => tx.row(asynchronous)), { setting: 'on' });
  const failing = { name: 'test_division', text: 'SELECT 1 / $1::integer', values: [0], commitsAsynchronously: true };
  await assert.rejects(one.run(failing as Statement), /division by zero/);
  assert.deepEqual(await one.row(usual), { setting: 'on' });
  await one.close();
});

for (const [what, statement] of [
  ['whose password was changed', "ALTER ROLE ROLE PASSWORD 'another'"],
  ['that may not log in any more', 'ALTER ROLE ROLE NOLOGIN'],
  ['that may not connect to the database any more', 'REVOKE CONNECT ON DATABASE DATABASE FROM PUBLIC'],
  ['whose database takes no connections', 'ALTER DATABASE DATABASE ALLOW_CONNECTIONS false'],
] as const) {
  test(`a role ${what} gets 503 with Retry-After, as when the database is away`, async () => {
    const name = new URL(database.adminUrl).pathname.slice(1);
    const role = `locked_out_${randomUUID().slice(0, 8)}`;
    const elsewhere = changeConnectionUrl(database.adminUrl, { database: 'postgres' });
    const asAdmin = (sql: string) =>
      withAdminClient(elsewhere, (client) => client.query(sql.replace('ROLE ROLE', `ROLE ${role}`)));
    const onDatabase = (sql: string) => asAdmin(sql.replace('DATABASE DATABASE', `DATABASE ${name}`));
    await asAdmin("CREATE ROLE ROLE LOGIN PASSWORD 'its own'");
    const url = changeConnectionUrl(database.adminUrl, { user: role, password: 'its own' });
    const pool = openDatabase({ url, connectionsMax: 2, clock: systemClock, onConnectionError: () => {} });
    try {
      await pool.row(pidStatement);
      await onDatabase(statement);
      const held = pool.withTransaction(async (tx) => {
        await tx.row(pidStatement);
        // The second connection is a new one.
        await assert.rejects(
          pool.withTransaction((other) => other.row(pidStatement)),
          (error) => error instanceof PublicError && error.statusCode === 503 && error.retryAfterSeconds === 1,
        );
      });
      await held;
    } finally {
      await onDatabase('ALTER DATABASE DATABASE ALLOW_CONNECTIONS true');
      await onDatabase('GRANT CONNECT ON DATABASE DATABASE TO PUBLIC');
      await pool.close();
      await asAdmin('DROP ROLE ROLE');
    }
  });
}
