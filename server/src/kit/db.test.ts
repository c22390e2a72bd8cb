import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { withAdminClient } from '../database/admin-client.ts';
import { PublicError } from './public-error.ts';
import { systemClock, type Clock } from './clock.ts';
import { isUniqueViolation, sqlState } from './db-errors.ts';
import { openDatabase, type Database, type DatabaseOptions, type Queryable, type Statement } from './db.ts';

let database: TestDatabase;
let db: Database;
/** Waits between tries, in milliseconds; nothing really waits. */
let slept: number[] = [];
let connectionErrors: Error[] = [];
let afterCommitErrors: unknown[] = [];

/** Tries again at once, and tells how long it would have waited. */
const impatientClock: Clock = {
  now: () => systemClock.now(),
  sleep: async (ms) => {
    slept.push(ms);
  },
};

function open(options: Partial<DatabaseOptions> = {}): Database {
  return openDatabase({
    url: database.appUrl,
    connectionsMax: 4,
    clock: impatientClock,
    onConnectionError: (error) => connectionErrors.push(error),
    onAfterCommitError: (error) => afterCommitErrors.push(error),
    ...options,
  });
}

before(async () => {
  database = await createTestDatabase();
  await asOwner(`CREATE TABLE kit_rows (id bigint CONSTRAINT kit_rows_pkey PRIMARY KEY, amount bigint NOT NULL)`);
  await asOwner('GRANT SELECT, INSERT, UPDATE, DELETE ON kit_rows TO PUBLIC');
  // By default after a second, when a busy server may tell the one that has to give way that its lock took too long.
  await asOwner(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET deadlock_timeout = 20', current_database()); END $$`,
  );
  db = open();
});

beforeEach(async () => {
  await asOwner('DELETE FROM kit_rows');
  slept = [];
  connectionErrors = [];
  afterCommitErrors = [];
});

after(async () => {
  await db.close();
  await database.drop();
});

function asOwner(text: string): Promise<pg.QueryResult> {
  return withAdminClient(database.adminUrl, (client) => client.query(text));
}

function insertRow(id: bigint, amount = 0n): Statement {
  return { name: 'test_insert', text: 'INSERT INTO kit_rows (id, amount) VALUES ($1, $2)', values: [id, amount] };
}

function setAmount(id: bigint, amount: bigint): Statement {
  return { name: 'test_update', text: 'UPDATE kit_rows SET amount = $2 WHERE id = $1', values: [id, amount] };
}

async function storedIds(on: Queryable = db): Promise<bigint[]> {
  const statement: Statement = { name: 'test_ids', text: 'SELECT id FROM kit_rows ORDER BY id', values: [] };
  return (await on.rows<{ id: bigint }>(statement)).map((row) => row.id);
}

/** A statement that fails with the code, as the server would. */
function failing(code: string): Statement {
  const text = `DO $$ BEGIN RAISE EXCEPTION 'asked for' USING ERRCODE = '${code}'; END $$`;
  return { name: `test_fail_${code}`, text, values: [] };
}

async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => assert.fail('it should have failed'),
    (error: unknown) => error,
  );
}

/** Ends every connection of the pool at the server, as a restart of the database does. */
async function endConnections(): Promise<void> {
  await asOwner(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'dalasi'`,
  );
}

function isUnavailable(error: unknown): boolean {
  return error instanceof PublicError && error.code === 'unavailable' && error.statusCode === 503;
}

test('a transaction stores its writes and returns the result of its body', async () => {
  const result = await db.withTransaction(async (tx) => {
    tx.send(insertRow(1n));
    assert.deepEqual(await storedIds(tx), [1n], 'a statement that was sent comes before the next one');
    assert.deepEqual(await storedIds(), [], 'nobody else sees it before the commit');
    return 'done';
  });
  assert.equal(result, 'done');
  assert.deepEqual(await storedIds(), [1n]);
});

test('a sent statement that fails makes the commit fail with its own error, and nothing is written', async () => {
  const error = await rejectionOf(
    db.withTransaction(async (tx) => {
      tx.send(insertRow(1n));
      tx.send(insertRow(1n));
      tx.send(insertRow(2n));
    }),
  );
  assert.ok(isUniqueViolation(error, 'kit_rows_pkey'), String(error));
  assert.deepEqual(await storedIds(), []);
});

test('the error of a failed statement is not hidden by later ones', async () => {
  const error = await rejectionOf(
    db.withTransaction(async (tx) => {
      tx.send(insertRow(1n));
      tx.send(insertRow(1n));
      return await storedIds(tx);
    }),
  );
  assert.ok(isUniqueViolation(error, 'kit_rows_pkey'), String(error));
});

test('an error in the body rolls back everything and is thrown unchanged', async () => {
  const mistake = new Error('a mistake of the body');
  const error = await rejectionOf(
    db.withTransaction(async (tx) => {
      tx.send(insertRow(1n));
      throw mistake;
    }),
  );
  assert.equal(error, mistake);
  assert.deepEqual(await storedIds(), []);
});

test('a unique violation is recognised by its constraint, also with a shard number appended', () => {
  const violation = (message: string, code = '23505'): Error =>
    Object.assign(new pg.DatabaseError(message, message.length, 'error'), { code });
  const message = (name: string): string => `duplicate key value violates unique constraint "${name}"`;
  assert.ok(isUniqueViolation(violation(message('kit_rows_pkey')), 'kit_rows_pkey'));
  assert.ok(isUniqueViolation(violation(message('kit_rows_pkey_102079')), 'kit_rows_pkey'));
  assert.ok(!isUniqueViolation(violation(message('kit_rows_pkey_old')), 'kit_rows_pkey'));
  assert.ok(!isUniqueViolation(violation(message('kit_rows_pkey'), '23503'), 'kit_rows_pkey'));
  assert.ok(!isUniqueViolation(new Error(message('kit_rows_pkey')), 'kit_rows_pkey'));
});

test('amounts arrive as bigint, beyond what a number holds', async () => {
  const amount = 9_007_199_254_740_993n;
  await db.run(insertRow(1n, amount));
  const row = await db.row<{ amount: bigint }>({
    name: 'test_amount',
    text: 'SELECT amount FROM kit_rows',
    values: [],
  });
  assert.equal(row?.amount, amount);
});

test('a statement that returns two rows for `row` fails, inside and outside of a transaction', async () => {
  await db.run(insertRow(1n));
  await db.run(insertRow(2n));
  const one: Statement = { name: 'test_one', text: 'SELECT id FROM kit_rows', values: [] };
  await assert.rejects(db.row(one), /test_one returned 2 rows/);
  await assert.rejects(
    db.withTransaction((tx) => tx.row(one)),
    /test_one returned 2 rows/,
  );
});

test('two transactions in a deadlock both succeed, because the victim is retried', async () => {
  await Promise.all([db.run(insertRow(1n)), db.run(insertRow(2n))]);
  const [bothHoldOne, oneIsThrough] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding: bigint[] = [];
  let runs = 0;
  const update = (first: bigint, second: bigint): Promise<void> =>
    db.withTransaction(async (tx) => {
      runs += 1;
      // Waits are not waited out here: so soon, it could overtake the one that it gave way to, and lose again.
      if (runs > 2) await oneIsThrough.promise;
      await tx.run(setAmount(first, first));
      if (holding.push(first) === 2) bothHoldOne.resolve();
      await bothHoldOne.promise;
      await tx.run(setAmount(second, first));
    });
  const updates = [update(1n, 2n), update(2n, 1n)];
  void Promise.race(updates).then(oneIsThrough.resolve);
  await Promise.all(updates);
  assert.deepEqual([runs, slept.length], [3, 1]);
});

test('a serialization failure is tried five times with growing delays, then answered with 503', async () => {
  let runs = 0;
  const error = await rejectionOf(
    db.withTransaction(async (tx) => {
      runs += 1;
      tx.send(failing('40001'));
    }),
  );
  assert.ok(isUnavailable(error), String(error));
  assert.equal(sqlState((error as PublicError).cause), '40001');
  assert.equal(runs, 5);
  assert.deepEqual(slept, [5, 20, 45, 80]);
});

test('no other error is retried, because the transaction may have had an effect', async () => {
  for (const code of ['23505', '22012', '57014', '08006']) {
    let runs = 0;
    await rejectionOf(
      db.withTransaction(async (tx) => {
        runs += 1;
        tx.send(failing(code));
      }),
    );
    assert.equal(runs, 1, code);
  }
});

test('an unavailable database is 503; an error of the program is thrown unchanged', async () => {
  for (const code of ['08006', '25006', '28000', '28P01', '42501', '42P01', '53300', '57P01', '58030']) {
    assert.ok(isUnavailable(await rejectionOf(db.run(failing(code)))), code);
  }
  for (const code of ['23505', '42703']) assert.equal(sqlState(await rejectionOf(db.run(failing(code)))), code);
});

test('a lock timeout is 503 and rolls back the transaction', async () => {
  await db.run(insertRow(1n));
  const mayEnd = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const holder = db.withTransaction(async (tx) => {
    await tx.run(setAmount(1n, 1n));
    locked.resolve();
    await mayEnd.promise;
  });
  await locked.promise;
  const error = await rejectionOf(
    db.withTransaction(async (tx) => {
      tx.send(insertRow(2n));
      await tx.run(setAmount(1n, 2n));
    }),
  );
  mayEnd.resolve();
  await holder;
  assert.ok(isUnavailable(error), String(error));
  assert.match(String(error), /Something else is changing this just now/);
  assert.deepEqual(await storedIds(), [1n]);
});

test('a statement timeout ends the statement at the server and is 503', async () => {
  const hasty = open({ connectionsMax: 1, statementTimeoutMs: 20 });
  const error = await rejectionOf(hasty.run({ name: 'test_slow', text: 'SELECT pg_sleep(60)', values: [] }));
  await hasty.close();
  assert.ok(isUnavailable(error), String(error));
  assert.match(String(error), /This took too long/);
});

test('a connection lost in a transaction is 503 with Retry-After, and nothing is written', async () => {
  const error = await rejectionOf(
    db.withTransaction(async (tx) => {
      await tx.run(insertRow(1n));
      await endConnections();
      await tx.run(insertRow(2n));
    }),
  );
  assert.ok(isUnavailable(error), String(error));
  assert.equal((error as PublicError).retryAfterSeconds, 1);
  await untilUsable();
  assert.deepEqual(await storedIds(), []);
});

test('the pool survives losing all its connections, idle ones too', async () => {
  const hold = Promise.withResolvers<void>();
  const users = [1n, 2n, 3n].map((id) =>
    db.withTransaction(async (tx) => {
      await tx.run(insertRow(id));
      await hold.promise;
    }),
  );
  await db.run(insertRow(4n));
  hold.resolve();
  await Promise.all(users);
  await endConnections();
  await eventually('the pool has noticed it', () => connectionErrors.length >= 4);
  await untilUsable();
  assert.deepEqual(await storedIds(), [1n, 2n, 3n, 4n]);
});

test('a database that cannot be reached is 503, not a bug', async () => {
  const nowhere = open({ url: 'postgres://nobody@127.0.0.1:1/nothing' });
  assert.ok(isUnavailable(await rejectionOf(nowhere.run(insertRow(1n)))));
  assert.ok(isUnavailable(await rejectionOf(nowhere.withTransaction(async (tx) => tx.run(insertRow(1n))))));
  await nowhere.close();
});

test('actions after a commit run after it, in order', async () => {
  const seen: unknown[] = [];
  const looked = Promise.withResolvers<void>();
  await db.withTransaction(async (tx) => {
    tx.afterCommit(() => {
      seen.push('first');
      void storedIds().then((ids) => {
        seen.push(ids);
        looked.resolve();
      });
    });
    tx.afterCommit(() => seen.push('second'));
    tx.send(insertRow(1n));
    seen.push('body');
  });
  await looked.promise;
  assert.deepEqual(seen, ['body', 'first', 'second', [1n]]);
});

test('actions after a commit do not run when it fails, and run once when it is retried', async () => {
  let happened = 0;
  await rejectionOf(
    db.withTransaction(async (tx) => {
      tx.afterCommit(() => (happened += 1));
      tx.send(failing('23505'));
    }),
  );
  assert.equal(happened, 0);
  let runs = 0;
  await db.withTransaction(async (tx) => {
    runs += 1;
    tx.afterCommit(() => (happened += 1));
    if (runs === 1) tx.send(failing('40001'));
  });
  assert.equal(happened, 1);
});

test('an error in an action after a commit affects neither the transaction nor the next one', async () => {
  const one = open({ connectionsMax: 1 });
  const mistake = new Error('a listener failed');
  let others = 0;
  const first = one.withTransaction(async (tx) => {
    tx.send(insertRow(1n));
    tx.afterCommit(() => {
      throw mistake;
    });
    tx.afterCommit(() => (others += 1));
  });
  // Waits for the only connection: a rollback that came after its release would tear this one apart.
  const second = one.withTransaction(async (tx) => {
    await tx.run(insertRow(2n));
    await tx.run(insertRow(3n));
  });
  const outcomes = await Promise.allSettled([first, second]);
  const ids = await storedIds(one);
  await one.close();
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'fulfilled'],
  );
  assert.deepEqual(ids, [1n, 2n, 3n]);
  assert.equal(others, 1);
  assert.deepEqual(afterCommitErrors, [mistake]);
});

test('with refuseNestedUse, asking for a second connection inside a transaction fails', async () => {
  const strict = open({ refuseNestedUse: true });
  const nested = [
    () => strict.withTransaction(() => storedIds(strict)),
    () => strict.withTransaction(() => strict.withTransaction(async () => [])),
  ];
  for (const use of nested) await assert.rejects(use, /asks for a second connection/);
  assert.deepEqual(await strict.withTransaction((tx) => storedIds(tx)), []);
  const { promise: later, resolve } = Promise.withResolvers<bigint[]>();
  await strict.withTransaction(async (tx) => tx.afterCommit(() => resolve(storedIds(strict))));
  assert.deepEqual(await later, [], 'after the commit it is no longer inside');
  await strict.close();
});

/** A statement may still meet a connection whose end has not been read; that is 503 and the next one is fine. */
async function untilUsable(): Promise<void> {
  await eventually('the pool has new connections', () =>
    storedIds().then(
      () => true,
      (error: unknown) => {
        assert.ok(isUnavailable(error), String(error));
        return false;
      },
    ),
  );
}
