import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { withAdminClient } from '../server/src/database/admin-client.ts';
import { labelOf, migrationsFolder, readMigrations } from '../server/src/database/migration-files.ts';
import { createTestDatabase, type TestDatabase } from '../test/harness/database.ts';
import { readReleasedStatements } from './released-statements.ts';
import { loadSqlParser, parseSql } from './tidy/postgresql.ts';
import { findUnboundTables } from './tidy/tenant-binding.ts';
import { findTenantTables } from './tidy/tenant-rules.ts';

// While an upgrade rolls, processes of the last release send these to the schema that the newest migration leaves.
describe('the statements of the last release', () => {
  const statements = readReleasedStatements();
  let database: TestDatabase;

  before(async () => {
    await loadSqlParser();
    database = await createTestDatabase();
  });
  after(() => database.drop());

  test('are recorded', () => {
    assert.ok(statements.size > 300, `${statements.size} are`);
  });

  test('can be planned on the current schema by the serving role', async () => {
    const refused: string[] = [];
    await withAdminClient(database.appUrl, async (client) => {
      for (const [name, text] of statements) {
        // Planning also finds the index of an ON CONFLICT and asks for the role's rights, which preparing does not.
        await client.query(`EXPLAIN (GENERIC_PLAN) ${text}`).catch((error: Error) => {
          refused.push(`${name}: ${error.message}`);
        });
      }
    });
    assert.deepEqual(refused, []);
  });

  test('are bound to one merchant also as they are sent', () => {
    const migrations = readMigrations(migrationsFolder);
    const tables = findTenantTables(
      migrations.map((migration) => ({ path: `server/migrations/${labelOf(migration)}.sql`, text: migration.text })),
    );
    const unbound = [...statements]
      .filter(([, text]) => !text.includes('-- across merchants: '))
      .flatMap(([name, text]) =>
        parseSql(text).flatMap(({ statement }) =>
          findUnboundTables(statement, tables).map((table) => `${name}: ${table}`),
        ),
      );
    assert.deepEqual(unbound, []);
  });
});
