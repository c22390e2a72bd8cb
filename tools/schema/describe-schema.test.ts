import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { createEmptyTestDatabase, type TestDatabase } from '../../test/harness/database.ts';
import { withAdminClient } from '../../server/src/database/admin-client.ts';
import { ensureServingRole } from '../../server/src/database/roles.ts';
import { describeSchema } from './describe-schema.ts';

let database: TestDatabase;

beforeEach(async () => {
  database = await createEmptyTestDatabase();
});

afterEach(() => database.drop());

test('a table is described with columns, constraints, indexes and the serving role’s privileges', async () => {
  await run(`
    CREATE TABLE parents (merchant_id uuid NOT NULL, id uuid NOT NULL, CONSTRAINT parents_pkey PRIMARY KEY (merchant_id, id));
    CREATE TABLE ledger_movements (
      merchant_id uuid NOT NULL, id uuid NOT NULL, parent_id uuid, amount numeric(12,2) DEFAULT 0, double bigint GENERATED ALWAYS AS (2) STORED,
      CONSTRAINT ledger_movements_pkey PRIMARY KEY (merchant_id, id),
      CONSTRAINT ledger_movements_amount_check CHECK (amount > 0),
      CONSTRAINT ledger_movements_parent_fkey FOREIGN KEY (merchant_id, parent_id) REFERENCES parents (merchant_id, id)
    );
    CREATE UNIQUE INDEX ledger_movements_large_key ON ledger_movements (merchant_id, amount) WHERE amount > 10`);
  // As the operator's own, which is only given its grants: the role is the whole cluster's, and other tests use it meanwhile.
  await ensureServingRole({ adminUrl: database.adminUrl, servingUrl: database.appUrl, password: '' });
  assert.equal(
    (await describe()).split('\n').slice(2).join('\n'),
    `CREATE TABLE ledger_movements (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  parent_id uuid,
  amount numeric(12,2) DEFAULT 0,
  double bigint GENERATED ALWAYS AS (2) STORED,
  CONSTRAINT ledger_movements_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT ledger_movements_parent_fkey FOREIGN KEY (merchant_id, parent_id) REFERENCES parents(merchant_id, id),
  CONSTRAINT ledger_movements_amount_check CHECK (amount > 0::numeric)
);
CREATE UNIQUE INDEX ledger_movements_large_key ON ledger_movements USING btree (merchant_id, amount) WHERE amount > 10::numeric;
-- dalasi_app: SELECT, INSERT

CREATE TABLE parents (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  CONSTRAINT parents_pkey PRIMARY KEY (merchant_id, id)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE
`,
  );
});

for (const change of [
  'ALTER TABLE things ALTER COLUMN name SET NOT NULL',
  "ALTER TABLE things ALTER COLUMN name SET DEFAULT ''",
  'ALTER TABLE things SET UNLOGGED',
  'ALTER TABLE things ALTER COLUMN name TYPE varchar(10)',
  'CREATE INDEX things_name_idx ON things (name)',
  "CREATE TYPE mood AS ENUM ('well')",
  'CREATE VIEW named AS SELECT name FROM things',
  'CREATE SEQUENCE numbers',
  "CREATE FUNCTION one() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'",
  'CREATE DOMAIN amount AS bigint CONSTRAINT amount_check CHECK (VALUE > 0)',
  'CREATE TABLE parts (id bigint) PARTITION BY RANGE (id); CREATE TABLE first_part PARTITION OF parts FOR VALUES FROM (0) TO (9)',
]) {
  test(`a change is seen: ${change}`, async () => {
    await run('CREATE TABLE things (id bigint, name text)');
    const before = await describe();
    assert.equal(await describe(), before);
    await run(change);
    assert.notEqual(await describe(), before);
  });
}

test('the order of the statements that created the schema does not matter', async () => {
  const [one, two] = [
    'CREATE TABLE b (id bigint);',
    'CREATE TABLE a (id bigint); CREATE INDEX y ON a (id); CREATE INDEX x ON a (id);',
  ];
  await run(one + two);
  const before = await describe();
  await run(`DROP TABLE a, b; ${two} DROP INDEX x; CREATE INDEX x ON a (id); ${one}`);
  assert.equal(await describe(), before);
});

async function run(sql: string): Promise<void> {
  await withAdminClient(database.adminUrl, (client) => client.query(sql));
}

function describe(): Promise<string> {
  return withAdminClient(database.adminUrl, describeSchema);
}
