import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { loadSqlParser, parseSql } from '../../../../tools/tidy/postgresql.ts';
import { createTestDatabase, type TestDatabase } from '../../../../test/harness/database.ts';
import { userOf } from '../connection-url.ts';
import { migrationsFolder, readMigrations } from '../migration-files.ts';
import { placements } from '../placement.ts';
import { installStandIn } from './cluster-stand-in.corpus.ts';
import { distribute, readClusterStatus } from './distribute.ts';
import { runOnCluster } from './migrate-cluster.ts';
import { splitStatements } from './split-statements.ts';

describe('distributing the tables over a cluster', () => {
  let database: TestDatabase;
  let client: pg.Client;
  let servingRole: string;
  const foreignKeys = async (): Promise<string[]> => {
    const { rows } = await client.query<{ text: string }>(
      `SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) AS text FROM pg_constraint
       WHERE contype = 'f' AND connamespace = 'public'::regnamespace ORDER BY 1`,
    );
    return rows.map(({ text }) => text);
  };
  const run = (onStep: (done: number, total: number) => void = () => {}) => distribute(client, { servingRole, onStep });

  before(async () => {
    database = await createTestDatabase();
    servingRole = `${userOf(database.appUrl)}_of_this_test`;
    client = new pg.Client({ connectionString: database.adminUrl });
    await client.connect();
  });
  after(async () => {
    await client.query(`DROP ROLE IF EXISTS "${servingRole}"`);
    await client.end();
    await database.drop();
  });

  test('is refused where there is no cluster, with what to do', async () => {
    await assert.rejects(run(), /not the coordinator of a cluster.*docs\/scaling\.md/);
    await assert.rejects(readClusterStatus(client), /not the coordinator of a cluster/);
  });

  test('goes on after an interruption at any step, and ends with every table and foreign key in its place', async () => {
    await client.query(`CREATE ROLE "${servingRole}" LOGIN PASSWORD 'of this test'`);
    const before = await foreignKeys();
    await installStandIn(client);
    const lost = new Error('the connection is lost');
    for (let stopAfter = 1; stopAfter <= 4; stopAfter += 1) {
      let steps = 0;
      await assert.rejects(
        run(() => {
          steps += 1;
          if (steps === stopAfter * 15) throw lost;
        }),
        lost,
      );
      assert.ok((await readClusterStatus(client)).problems.length > 0, 'status says what is left');
    }
    await run();
    assert.deepEqual(await foreignKeys(), before);
    const status = await readClusterStatus(client);
    assert.deepEqual(
      status.problems.filter((problem) => !/may lose committed rows/.test(problem)),
      [],
    );
    const { rows } = await client.query<{ count: number }>('SELECT count(*)::integer AS count FROM citus_tables');
    assert.equal(rows[0]?.count, placements.size);
    assert.deepEqual(await run(), { tables: 0, foreignKeys: 0 }, 'a second run does nothing');
    const settings = await client.query<{ rolconfig: string[] }>('SELECT rolconfig FROM pg_roles WHERE rolname = $1', [
      servingRole,
    ]);
    assert.deepEqual(settings.rows[0]?.rolconfig.toSorted(), ['lock_timeout=1200ms', 'synchronous_commit=on']);
  });

  test('is refused while a process of the service is connected', async () => {
    await client.query(`DELETE FROM stand_in_tables WHERE table_name = 'outbox'::regclass`);
    const url = new URL(database.adminUrl);
    url.username = servingRole;
    url.password = 'of this test';
    const service = new pg.Client({ connectionString: url.href });
    await service.connect();
    await assert.rejects(run(), /1 connections of the service are open; stop every process/);
    await service.end();
    await client.query(
      `INSERT INTO stand_in_tables VALUES ('outbox', 'distributed', 'merchant_id', 'merchant_places')`,
    );
  });

  test('names nodes that do not answer and settings that may lose rows', async () => {
    await client.query(`UPDATE pg_dist_node SET is_down = true WHERE nodename = 'worker-2'`);
    const { nodes, problems } = await readClusterStatus(client);
    assert.deepEqual(
      nodes.map(({ name, problem }) => [name, problem]),
      [
        ['coordinator', null],
        ['worker-1', null],
        ['worker-2', 'connection refused'],
      ],
    );
    assert.ok(problems.includes('worker-2:5432 does not answer: connection refused'), problems.join('\n'));
    assert.ok(problems.includes('worker-1:5432 may lose committed rows: fsync is off.'), 'as in tests');
  });

  test('tables of later migrations are distributed as they are made', async () => {
    await client.query('ALTER TABLE charge_notes DROP CONSTRAINT charge_notes_charge_fkey');
    await client.query(`DELETE FROM stand_in_tables WHERE table_name = 'charge_notes'::regclass`);
    await client.query('DROP TABLE charge_notes');
    await client.query('BEGIN');
    await runOnCluster(
      client,
      `-- Notes; made again.
       CREATE TABLE charge_notes (merchant_id uuid, charge_id uuid, id uuid, CONSTRAINT charge_notes_pkey PRIMARY KEY (merchant_id, charge_id, id));
       CREATE INDEX charge_notes_idx ON charge_notes (merchant_id, id);`,
    );
    await client.query('COMMIT');
    assert.deepEqual((await readClusterStatus(client)).missing, []);
  });
});

describe('statements of a migration', () => {
  before(loadSqlParser);

  test('are split where PostgreSQL’s own parser splits them, in every migration', () => {
    for (const { text, name } of readMigrations(migrationsFolder)) {
      assert.equal(splitStatements(text).length, parseSql(text).length, name);
    }
  });

  test('keep quoted semicolons, and end without a comment of their own', () => {
    const parts = splitStatements(`SELECT ';', ";" -- a; b\n; DO $x$ ; $x$; /* ; */ SELECT 1\n;\n-- the end\n`);
    assert.equal(parts.length, 3);
    assert.match(parts[1] ?? '', /^DO/);
  });
});
