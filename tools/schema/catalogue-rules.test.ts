import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createEmptyTestDatabase, createTestDatabase, type TestDatabase } from '../../test/harness/database.ts';
import { withAdminClient } from '../../server/src/database/admin-client.ts';
import { findCatalogueBreaches } from './catalogue-rules.ts';

const merchantAndId = 'merchant_id uuid NOT NULL, id uuid NOT NULL';

let database: TestDatabase;

before(async () => {
  database = await createEmptyTestDatabase();
});

after(() => database.drop());

for (const [made, breach] of [
  [
    `CREATE TABLE t (${merchantAndId}, PRIMARY KEY (id, merchant_id))`,
    't: t_pkey does not have merchant_id as its first column',
  ],
  [
    `CREATE TABLE t (${merchantAndId}, PRIMARY KEY (merchant_id, id)); CREATE UNIQUE INDEX t_id ON t (id)`,
    't: t_id does not have merchant_id as its first column',
  ],
  [
    `CREATE TABLE p (id uuid PRIMARY KEY); CREATE TABLE t (${merchantAndId} CONSTRAINT t_fkey REFERENCES p, PRIMARY KEY (merchant_id, id))`,
    't: the foreign key t_fkey does not have merchant_id as its first column',
  ],
  [
    'CREATE TABLE t (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY)',
    't.id takes integer from a sequence, which runs out; make it bigint',
  ],
  ['CREATE SEQUENCE s AS integer', 's counts in integer, which runs out; make it bigint'],
  [
    'CREATE TABLE t (id bigint PRIMARY KEY, CONSTRAINT t_key UNIQUE (id) DEFERRABLE)',
    't: t_key is deferrable; what fails only at COMMIT loses its reason',
  ],
  ['CREATE TABLE t (id bigint)', 't has no primary key'],
  [
    'CREATE TABLE t (id bigint PRIMARY KEY, of bigint CONSTRAINT t_of REFERENCES t ON DELETE SET NULL)',
    't: t_of sets columns to null or their default on delete',
  ],
  [
    `CREATE TABLE t (id bigint PRIMARY KEY); CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
     CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()`,
    't: g is a trigger',
  ],
] as const) {
  test(`found: ${breach}`, async () => {
    assert((await breachesOf(made)).includes(breach), String(await breachesOf(made)));
  });
}

test('an exception applies to its table or index only, and an unused one is reported', async () => {
  const made = `CREATE TABLE t (${merchantAndId}, PRIMARY KEY (id, merchant_id))`;
  assert.deepEqual(await breachesOf(made, { t: 'a reason' }), []);
  assert.deepEqual(await breachesOf(made, { 't.t_pkey': 'a reason' }), []);
  assert.deepEqual(await breachesOf('SELECT 1', { t: 'a reason' }), ['t is an exception that is no longer needed']);
});

test('the migrated database keeps the rules', async () => {
  const migrated = await createTestDatabase();
  try {
    assert.deepEqual(await withAdminClient(migrated.adminUrl, (client) => findCatalogueBreaches(client)), []);
  } finally {
    await migrated.drop();
  }
});

/** What is found in an otherwise empty database; nothing of it stays. */
function breachesOf(sql: string, exceptions: Record<string, string> = {}): Promise<string[]> {
  return withAdminClient(database.adminUrl, async (client) => {
    await client.query('BEGIN');
    await client.query(sql);
    return await findCatalogueBreaches(client, exceptions);
  });
}
