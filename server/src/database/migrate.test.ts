import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import type pg from 'pg';
import { createEmptyTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { openTestDatabase } from '../../../test/harness/open-test-database.ts';
import { systemClock, type Clock } from '../kit/clock.ts';
import { withAdminClient } from './admin-client.ts';
import { migrate } from './migrate.ts';
import { migrationsFolder, readMigrations } from './migration-files.ts';
import { assertSchemaIsCurrent } from './schema-version.ts';

const first = 'CREATE TABLE first (id bigint);';
const second = 'CREATE TABLE second (id bigint);';
const addName = 'ALTER TABLE first ADD COLUMN name text;';

let database: TestDatabase;
let folder: string;
let logged: string[];

beforeEach(async () => {
  database = await createEmptyTestDatabase();
  folder = mkdtempSync(join(tmpdir(), 'dalasi-migrations-'));
  logged = [];
});

afterEach(async () => {
  rmSync(folder, { recursive: true, force: true });
  await database.drop();
});

test('each file is applied once, in the order of the numbers', async () => {
  write({
    '0002-second.sql': 'ALTER TABLE first RENAME TO second;',
    '0001-first.sql': first,
    'schema.sql': 'nonsense',
  });
  assert.deepEqual(await run(), ['0001-first', '0002-second']);
  assert.deepEqual(await run(), []);
  const { rows } = await query('SELECT number, name FROM schema_migrations ORDER BY number');
  assert.deepEqual(rows, [
    { number: 1, name: 'first' },
    { number: 2, name: 'second' },
  ]);
});

test('a new file is applied to an existing database', async () => {
  write({ '0001-first.sql': first });
  await run();
  await query('INSERT INTO first VALUES (1)');
  write({ '0002-second.sql': second });
  assert.deepEqual(await run(), ['0002-second']);
  assert.equal((await query('SELECT FROM first')).rowCount, 1);
});

test('processes that start at the same time apply each file once', async () => {
  write({ '0001-first.sql': `${first} SELECT pg_sleep(0.05);`, '0002-second.sql': second });
  const applied = await Promise.all([run(), run(), run(), run()]);
  assert.deepEqual(applied.flat().toSorted(), ['0001-first', '0002-second']);
});

test('an index is built without blocking writers, and again after an interrupted attempt', async () => {
  write({ '0001-first.sql': first });
  await run();
  await query('INSERT INTO first VALUES (1), (1)');
  write({ '0002-second.sql': '-- Why.\nCREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS first_key ON first (id);' });
  await assert.rejects(run(), /could not create unique index/);
  const valid = 'SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass($$first_key$$)';
  assert.deepEqual((await query(valid)).rows, [{ valid: false }]);
  await query('DELETE FROM first WHERE ctid = (SELECT min(ctid) FROM first)');
  assert.deepEqual(await run(), ['0002-second']);
  assert.deepEqual((await query(valid)).rows, [{ valid: true }]);
});

test('a failed file changes nothing, and runs again once it is fixed', async () => {
  write({ '0001-first.sql': first, '0002-second.sql': `${second} SELECT 1 / 0;` });
  await assert.rejects(run(), /StartError: Migration 0002-second failed and changed nothing: division by zero\./);
  assert.equal((await query("SELECT to_regclass('second') AS found")).rows[0]?.found, null);
  write({ '0002-second.sql': second });
  assert.deepEqual(await run(), ['0002-second']);
});

test('a migration waits briefly for a locked table, releases it, and retries', async () => {
  write({ '0001-first.sql': first });
  await run();
  write({ '0002-second.sql': addName });
  await withAdminClient(database.adminUrl, async (holder) => {
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE first');
    // The pause between two attempts is where the holder lets go, so there was a refusal and no waiting for luck.
    const clock = clockWithPauses(() => holder.query('ROLLBACK'));
    assert.deepEqual(await run({ clock }), ['0002-second']);
  });
  assert(logged.some((sentence) => sentence.startsWith('Migration 0002-second has not got the lock of a table')));
});

test('a table in use is not tried again before the transaction ends, and the session is named', async () => {
  write({ '0001-first.sql': first });
  await run();
  write({ '0002-second.sql': addName });
  await withAdminClient(database.adminUrl, async (reader) => {
    await reader.query("BEGIN; SET application_name = 'nightly dump'; SELECT FROM first");
    const pid = await pidOf(reader);
    const named = new RegExp(
      `waits for session ${pid} \\(nightly dump, user \\w+, in a transaction since .*terminate.*${pid}`,
    );
    let pauses = 0;
    const clock = clockWithPauses(async () => {
      // Nobody waits behind the migration meanwhile.
      await query("SET lock_timeout = '1s'; SELECT FROM first");
      // On a busy machine the first look may miss the wait.
      if (logged.some((sentence) => named.test(sentence))) pauses += 1;
      if (pauses === 5) await reader.query('COMMIT');
    });
    assert.deepEqual(await run({ clock }), ['0002-second']);
    assert.equal(pauses, 5);
    assert.equal(logged.filter((sentence) => named.test(sentence)).length, 1);
  });
});

test('a migration gives up on a table that is in use for hours, and changes nothing', async () => {
  write({ '0001-first.sql': first });
  await run();
  write({ '0002-second.sql': addName });
  await withAdminClient(database.adminUrl, async (reader) => {
    await reader.query('BEGIN; SELECT FROM first');
    let hours = 0;
    const clock = clockWithPauses(
      () => Promise.resolve((hours += 1)),
      () => new Date(hours * 60 * 60 * 1_000),
    );
    await assert.rejects(run({ clock }), /StartError: Migration 0002-second failed and changed nothing: .* too long/);
    assert.equal(hours, 6);
    await reader.query('COMMIT');
  });
  assert.deepEqual((await query('SELECT number FROM schema_migrations')).rows, [{ number: 1 }]);
  assert.deepEqual(await run(), ['0002-second']);
});

test('a migration that was the victim of a deadlock is repeated', async () => {
  write({ '0001-first.sql': first });
  await run();
  const refused = 'DO $$ BEGIN IF NOT EXISTS (SELECT FROM first) THEN RAISE deadlock_detected; END IF; END $$;';
  write({ '0002-second.sql': `${second} ${refused}` });
  const clock = clockWithPauses(() => query('INSERT INTO first VALUES (1)'));
  assert.deepEqual(await run({ clock }), ['0002-second']);
});

test('an index is built by one process, so that requests keep their cores', async () => {
  write({
    '0001-first.sql': `CREATE TABLE first AS SELECT current_setting('max_parallel_maintenance_workers')::integer AS workers;`,
  });
  await run();
  assert.deepEqual((await query('SELECT workers FROM first')).rows, [{ workers: 0 }]);
});

test('the build of an index that waits for a snapshot names its session', async () => {
  write({ '0001-first.sql': first });
  await run();
  write({ '0002-second.sql': 'CREATE INDEX CONCURRENTLY IF NOT EXISTS first_idx ON first (id);' });
  await withAdminClient(database.adminUrl, async (reader) => {
    await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM first');
    const pid = await pidOf(reader);
    const { promise: isNamed, resolve } = Promise.withResolvers<void>();
    const log = (sentence: string): void => {
      if (sentence.startsWith(`Migration 0002-second waits for session ${pid} (`)) resolve();
    };
    // Looks in quick succession instead of ever less often.
    const clock = { ...systemClock, sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / 100, signal) };
    const running = migrate({ adminUrl: database.adminUrl, clock, log, folder });
    await isNamed;
    await reader.query('COMMIT');
    assert.deepEqual(await running, ['0002-second']);
  });
});

test('a database that a newer program migrated is refused', async () => {
  write({ '0001-first.sql': first, '0002-second.sql': second });
  await run();
  rmSync(join(folder, '0002-second.sql'));
  await assert.rejects(run(), /StartError: The database is at migration 2 and this program knows only 1; /);
});

test('a program does not serve from a schema that is behind or ahead, and says what to do', async () => {
  write({ '0001-first.sql': first });
  const db = openTestDatabase({ appUrl: database.adminUrl });
  const isServed = () => assertSchemaIsCurrent(db, folder);
  try {
    const behind = (newest: number, needed: number) =>
      new RegExp(
        `^StartError: The database is at migration ${newest} and this program needs ${needed}; run: npm run operator`,
      );
    await assert.rejects(isServed, behind(0, 1), 'without any tables');
    await run();
    await isServed();
    write({ '0002-second.sql': second });
    await assert.rejects(isServed, behind(1, 2));
    await run();
    rmSync(join(folder, '0002-second.sql'));
    await assert.rejects(
      isServed,
      /StartError: The database is at migration 2 and this program knows only 1; start the newer/,
    );
  } finally {
    await db.close();
  }
});

test('a database with another history is refused', async () => {
  write({ '0001-first.sql': first });
  await run();
  rmSync(join(folder, '0001-first.sql'));
  write({ '0001-other.sql': first });
  await assert.rejects(run(), /StartError: The database has migration 1, first, which is called other here; /);
});

test('a file that was slipped in before an applied one is refused', async () => {
  write({ '0002-second.sql': second });
  await run();
  write({ '0001-first.sql': first });
  await assert.rejects(
    run(),
    /StartError: Migration 0001-first comes before migration 2, .* give it the next number\./,
  );
});

test('a duplicate number, a malformed name or a transaction in a migration file stops before any runs', async () => {
  write({ '0001-first.sql': first, '0001-again.sql': first });
  await assert.rejects(run(), /StartError: Two migrations have the number 1/);
  rmSync(join(folder, '0001-again.sql'));
  write({ '002-second.sql': second });
  await assert.rejects(run(), /StartError: The migration 002-second\.sql is not named/);
  rmSync(join(folder, '002-second.sql'));
  write({ '0002-second.sql': `BEGIN;\n${second}\nCOMMIT;` });
  await assert.rejects(run(), /StartError: The migration 0002-second\.sql begins or ends a transaction/);
  assert.equal((await query("SELECT to_regclass('first') AS found")).rows[0]?.found, null);
});

test('the migrations of one start are logged in one sentence, with their duration', async () => {
  write({ '0001-first.sql': first, '0002-second.sql': 'SELECT 1' });
  await run({ clock: { ...systemClock, now: () => new Date(0) } });
  assert.deepEqual(logged, ['Applied 2 migrations, 0001-first to 0002-second, in 0 ms.']);
  write({ '0003-third.sql': 'SELECT 1', '0004-wrong.sql': 'nonsense' });
  await assert.rejects(run({ clock: { ...systemClock, now: () => new Date(0) } }));
  assert.equal(logged[1], 'Applied migration 0003-third in 0 ms.', 'also when a later one fails');
});

test('the time of a migration comes from the clock', async () => {
  write({ '0001-first.sql': first });
  const moment = new Date('2026-01-02T03:04:05.678Z');
  await run({ clock: { ...systemClock, now: () => moment } });
  assert.deepEqual((await query('SELECT applied_at FROM schema_migrations')).rows[0]?.applied_at, moment);
});

test('the program’s own migrations are well named and numbered without a gap', () => {
  const numbers = readMigrations(migrationsFolder).map(({ number }) => number);
  assert.deepEqual(
    numbers,
    numbers.map((_, index) => index + 1),
  );
});

function write(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}

function run({ clock = systemClock } = {}): Promise<string[]> {
  return migrate({ adminUrl: database.adminUrl, clock, log: (sentence) => logged.push(sentence), folder });
}

/** The pauses between two attempts are `pause`; looks at what a migration waits for take their time. */
function clockWithPauses(pause: () => Promise<unknown>, now = () => new Date(0)): Clock {
  return {
    now,
    sleep: async (ms, signal) => void (await (signal === undefined ? pause() : systemClock.sleep(ms, signal))),
  };
}

async function pidOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid ?? 0;
}

function query(sql: string): Promise<pg.QueryResult> {
  return withAdminClient(database.adminUrl, (client) => client.query(sql));
}
