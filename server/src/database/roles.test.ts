import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, test } from 'node:test';
import type pg from 'pg';
import { createEmptyTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { systemClock } from '../kit/clock.ts';
import { openDatabase } from '../kit/db.ts';
import { errorCode } from '../kit/start-error.ts';
import { withAdminClient } from './admin-client.ts';
import { changeConnectionUrl } from './connection-url.ts';
import { ensureServingRole } from './roles.ts';
import { assertServingRole } from './serving-role.ts';

const insufficientPrivilege = '42501';
const password = 'what the pepper gives';

let database: TestDatabase;
let roleName: string;

// A role belongs to the whole cluster: each test has its own.
beforeEach(async () => {
  database = await createEmptyTestDatabase();
  roleName = `role_${randomUUID().slice(0, 8)}`;
  await asAdmin(`
    CREATE TABLE ledger_movements (id bigint PRIMARY KEY, amount bigint);
    CREATE TABLE ledger_accounts (id bigint PRIMARY KEY);
    CREATE TABLE schema_migrations (number bigint PRIMARY KEY);
    INSERT INTO ledger_movements VALUES (1, 100);
    CREATE SCHEMA auth;
    CREATE TABLE auth.sessions (id bigint PRIMARY KEY)`);
});

afterEach(async () => {
  await asAdmin(`DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = '${roleName}') THEN
      REASSIGN OWNED BY ${roleName} TO CURRENT_USER; DROP OWNED BY ${roleName}; DROP ROLE ${roleName};
    END IF; END $$`);
  await database.drop();
});

test('movements can be added and read', async () => {
  const url = await ensureServingRole({ adminUrl: database.adminUrl, roleName, password });
  await asRole(url, 'INSERT INTO ledger_movements VALUES (2, 200)');
  assert.equal((await asRole(url, 'SELECT FROM ledger_movements')).rowCount, 2);
});

for (const statement of [
  'UPDATE ledger_movements SET amount = 0',
  'DELETE FROM ledger_movements',
  'TRUNCATE ledger_movements',
  'DROP TABLE ledger_movements',
  'ALTER TABLE ledger_movements ADD COLUMN note text',
  'TRUNCATE ledger_accounts',
  'INSERT INTO schema_migrations VALUES (9)',
  'CREATE TABLE own (id bigint)',
  'CREATE ROLE friend',
]) {
  test(`the serving role is refused: ${statement}`, async () => {
    const url = await ensureServingRole({ adminUrl: database.adminUrl, roleName, password });
    await assert.rejects(asRole(url, statement), (error) => errorCode(error) === insufficientPrivilege);
  });
}

test('other tables, in every schema, can be read and written', async () => {
  const url = await ensureServingRole({ adminUrl: database.adminUrl, roleName, password });
  for (const table of ['ledger_accounts', 'auth.sessions']) {
    await asRole(
      url,
      `INSERT INTO ${table} VALUES (1); UPDATE ${table} SET id = 2; SELECT FROM ${table}; DELETE FROM ${table}`,
    );
  }
  await asRole(url, 'SELECT FROM schema_migrations');
});

test('a table that a migration added is granted at the next start', async () => {
  const url = await ensureServingRole({ adminUrl: database.adminUrl, roleName, password });
  await asAdmin('CREATE TABLE added (id bigint)');
  assert.equal(await ensureServingRole({ adminUrl: database.adminUrl, roleName, password }), url);
  await asRole(url, 'INSERT INTO added VALUES (1)');
});

test('excess privileges of the serving role are revoked at the start', async () => {
  await ensureServingRole({ adminUrl: database.adminUrl, roleName, password });
  await asAdmin(
    `GRANT UPDATE, TRUNCATE ON ledger_movements TO ${roleName}; ALTER ROLE ${roleName} CREATEDB BYPASSRLS SUPERUSER`,
  );
  const url = await ensureServingRole({ adminUrl: database.adminUrl, roleName, password });
  await assert.rejects(asRole(url, 'TRUNCATE ledger_movements'), (error) => errorCode(error) === insufficientPrivilege);
  const { rows } = await asAdmin(
    `SELECT rolsuper, rolcreatedb, rolbypassrls FROM pg_roles WHERE rolname = '${roleName}'`,
  );
  assert.deepEqual(rows, [{ rolsuper: false, rolcreatedb: false, rolbypassrls: false }]);
});

test('processes that start at the same time agree on one role and password', async () => {
  const urls = await Promise.all(
    [1, 2, 3, 4].map(() => ensureServingRole({ adminUrl: database.adminUrl, roleName, password })),
  );
  assert.equal(new Set(urls).size, 1);
  await asRole(urls[0] ?? '', 'SELECT 1');
});

test('a password that may not be changed stays, and the error says what to do', async () => {
  const options = { adminUrl: database.adminUrl, roleName };
  const url = await ensureServingRole({ ...options, password, mayChangePassword: false });
  await asRole(url, 'SELECT 1');
  await assert.rejects(
    ensureServingRole({ ...options, password: 'what a wrong pepper gives', mayChangePassword: false }),
    new RegExp(`^StartError: The role ${roleName} has another password .*secrets accept KEY_PEPPER\\.$`),
  );
  await asRole(url, 'SELECT 1');
  await ensureServingRole({ ...options, password: 'another', mayChangePassword: true });
  await asRole(changeConnectionUrl(url, { password: 'another' }), 'SELECT 1');
});

test("the role and the password of the operator's own URL are the ones that count", async () => {
  const servingUrl = changeConnectionUrl(database.adminUrl, { user: roleName, password: "it's a p@ss/word ñ" });
  assert.equal(await ensureServingRole({ adminUrl: database.adminUrl, servingUrl, password }), servingUrl);
  await asRole(servingUrl, 'INSERT INTO ledger_movements VALUES (2, 200)');
});

test('a role that the operator created keeps its rights and its password', async () => {
  await asAdmin(`CREATE ROLE ${roleName} LOGIN CREATEDB PASSWORD 'made by hand'`);
  const servingUrl = changeConnectionUrl(database.adminUrl, { user: roleName, password: 'mistyped' });
  await ensureServingRole({ adminUrl: database.adminUrl, servingUrl, password });
  const url = changeConnectionUrl(servingUrl, { password: 'made by hand' });
  await asRole(url, 'INSERT INTO ledger_movements VALUES (2, 200)');
  const { rows } = await asAdmin(`SELECT rolcreatedb FROM pg_roles WHERE rolname = '${roleName}'`);
  assert.deepEqual(rows, [{ rolcreatedb: true }]);
});

test('the owner of the tables cannot become the serving role by mistake', async () => {
  const { username } = new URL(database.adminUrl);
  await assert.rejects(
    ensureServingRole({ adminUrl: database.adminUrl, roleName: username, password }),
    /StartError: DATABASE_URL connects as .*, the role the service runs as;/,
  );
  await assert.rejects(
    ensureServingRole({ adminUrl: database.adminUrl, servingUrl: database.adminUrl, password }),
    /StartError: DATABASE_URL and APP_DATABASE_URL both connect as .*;/,
  );
});

test('an owner that may not create roles gets an error with the fix, and uses the operator’s role', async () => {
  const owner = `${roleName}_owner`;
  await asAdmin(`CREATE ROLE ${owner} LOGIN PASSWORD 'owner'; ALTER TABLE ledger_movements OWNER TO ${owner}`);
  await asAdmin(
    `ALTER TABLE ledger_accounts OWNER TO ${owner}; ALTER TABLE schema_migrations OWNER TO ${owner}; DROP SCHEMA auth CASCADE`,
  );
  try {
    const adminUrl = changeConnectionUrl(database.adminUrl, { user: owner, password: 'owner' });
    await assert.rejects(
      ensureServingRole({ adminUrl, roleName, password }),
      new RegExp(`StartError: The user of DATABASE_URL may not manage the role ${roleName}; .* set APP_DATABASE_URL`),
    );
    await asAdmin(`CREATE ROLE ${roleName} LOGIN PASSWORD 'made by hand'; GRANT USAGE ON SCHEMA public TO ${roleName}`);
    const servingUrl = changeConnectionUrl(adminUrl, { user: roleName, password: 'made by hand' });
    await ensureServingRole({ adminUrl, servingUrl, password });
    await asRole(servingUrl, 'INSERT INTO ledger_movements VALUES (3, 300)');
  } finally {
    await asAdmin(`REASSIGN OWNED BY ${owner} TO CURRENT_USER; DROP OWNED BY ${owner}; DROP ROLE ${owner}`);
  }
});

test('the service starts as the serving role', async () => {
  const url = await ensureServingRole({ adminUrl: database.adminUrl, roleName, password });
  await assertAs(url, { durable: false });
});

test('the service refuses to start as a superuser', async () => {
  await assert.rejects(assertAs(database.adminUrl), /StartError: The database role .* is a superuser; /);
});

test('the service refuses to start as the owner of a ledger table, itself or through another role', async () => {
  const url = await ensureServingRole({ adminUrl: database.adminUrl, roleName, password });
  await asAdmin(`ALTER TABLE ledger_accounts OWNER TO ${roleName}`);
  await assert.rejects(assertAs(url), /StartError: The database role .* owns ledger_accounts; /);

  const group = `${roleName}_group`;
  await asAdmin(`CREATE ROLE ${group}; ALTER TABLE ledger_accounts OWNER TO ${group}; GRANT ${group} TO ${roleName}`);
  try {
    await assert.rejects(assertAs(url), /StartError: The database role .* owns ledger_accounts; /);
  } finally {
    await asAdmin(`REASSIGN OWNED BY ${group} TO CURRENT_USER; DROP ROLE ${group}`);
  }
});

for (const privilege of ['UPDATE', 'DELETE', 'TRUNCATE', 'UPDATE (amount)']) {
  test(`the service refuses to start when it has ${privilege} on the movements`, async () => {
    const url = await ensureServingRole({ adminUrl: database.adminUrl, roleName, password });
    await asAdmin(`GRANT ${privilege} ON ledger_movements TO PUBLIC`);
    await assert.rejects(assertAs(url), /StartError: .* may change or remove rows of ledger_movements; /);
  });
}

test('the service refuses to start on a database that was not migrated', async () => {
  const url = await ensureServingRole({ adminUrl: database.adminUrl, roleName, password });
  await asAdmin('DROP TABLE ledger_movements');
  await assert.rejects(assertAs(url), /StartError: The database has no table ledger_movements; /);
});

test('the service refuses to start on a database that may lose committed rows', async () => {
  const url = await ensureServingRole({ adminUrl: database.adminUrl, roleName, password });
  await asAdmin(`ALTER ROLE ${roleName} SET synchronous_commit = off`);
  await assert.rejects(
    assertAs(url),
    /StartError: The database may lose committed rows in a power cut: .*synchronous_commit is off/,
  );
});

function asAdmin(sql: string): Promise<pg.QueryResult> {
  return withAdminClient(database.adminUrl, (client) => client.query(sql));
}

function asRole(url: string, sql: string): Promise<pg.QueryResult> {
  return withAdminClient(url, (client) => client.query(sql));
}

async function assertAs(url: string, options?: { durable: boolean }): Promise<void> {
  const pool = openDatabase({ url, connectionsMax: 1, clock: systemClock, onConnectionError: () => {} });
  try {
    await assertServingRole(pool, options);
  } finally {
    await pool.close();
  }
}
