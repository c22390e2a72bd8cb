import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { createTestDatabase } from '../../../test/harness/database.ts';
import type { TestDatabase } from '../../../test/harness/database.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { withAdminClient } from '../database/admin-client.ts';
import { systemClock } from './clock.ts';
import { openDatabase } from './db.ts';
import type { Database, Statement } from './db.ts';

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

test('each connection that is lost is told once: idle ones, one in a transaction, and the listener', async () => {
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
  await assert.rejects(held ?? Promise.resolve(), /AppError: The service cannot reach its database/);
  await three.close();
  assert.equal(lost.length, 4, lost.map(String).join('\n'));
});

test('the system asks after connections that are quiet, so that one whose other end has vanished is found', async (t) => {
  const asked = t.mock.method(Socket.prototype, 'setKeepAlive');
  const { db: one } = open(1);
  const listener = await one.dedicatedClient();
  await one.row(pidStatement);
  await listener.end();
  await one.close();
  const calls = asked.mock.calls.map((call) => call.arguments);
  assert.deepEqual(calls, [
    [true, 10_000],
    [true, 10_000],
  ]);
});
