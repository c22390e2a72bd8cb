import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { withAdminClient } from '../../server/src/database/admin-client.ts';
import { createTestDatabase } from './database.ts';

test('each test database has the schema and none of the rows of another', async () => {
  const [one, two] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  const insert =
    "INSERT INTO businesses (id, name, created_at) VALUES ('00000000-0000-7000-8000-000000000001', 'A', '2026-01-01')";
  await withAdminClient(one.appUrl, (client) => client.query(insert));
  const { rowCount } = await withAdminClient(two.appUrl, (client) => client.query('SELECT FROM businesses'));
  assert.equal(rowCount, 0);
  await Promise.all([one.drop(), two.drop()]);
});

test('a test that leaves a connection open fails', async () => {
  const database = await createTestDatabase();
  const leaked = new pg.Client({ connectionString: database.appUrl });
  leaked.on('error', () => {});
  await leaked.connect();
  await assert.rejects(database.drop({ timeoutMs: 0 }), /the test left 1 connections to its database open/);
  await leaked.end();
});
