import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { openTestDatabase } from '../../../test/harness/open-test-database.ts';
import { testKeys } from '../../../test/harness/service.ts';
import type { AdminClient } from '../database/admin-client.ts';
import { installStandIn } from '../database/cluster/cluster-stand-in.corpus.ts';
import { changeConnectionUrl } from '../database/connection-url.ts';
import { runCommand } from './run-command.ts';

// A role of this file: the command changes its settings, and all databases of the tests share the usual one.
const role = { user: 'cluster_commands_test', password: 'of this test' };

let database: TestDatabase;
let servingUrl: string;

before(async () => {
  database = await createTestDatabase();
  servingUrl = changeConnectionUrl(database.adminUrl, role);
  await database.asOwner(`CREATE ROLE ${role.user} LOGIN PASSWORD '${role.password}'`);
  await installStandIn({ query: (text: string) => database.asOwner(text) } as AdminClient);
});

after(async () => {
  await database.asOwner(`DROP OWNED BY ${role.user}`);
  await database.asOwner(`DROP ROLE ${role.user}`);
  await database.drop();
});

async function run(...words: string[]) {
  const written = { stdout: '', stderr: '' };
  const code = await runCommand(words, {
    environment: {
      ...{ ...testKeys, APP_ENV: 'development' },
      ...{ DATABASE_URL: database.adminUrl, APP_DATABASE_URL: servingUrl },
    },
    stdout: { write: (text) => (written.stdout += text) },
    stderr: { write: (text) => (written.stderr += text) },
  });
  return { code, ...written };
}

test('a process of the service stops the distribution; the command’s own connection does not', async () => {
  const service = openTestDatabase({ appUrl: servingUrl });
  await service.run({ name: 'test_connect', text: 'SELECT 1', values: [] });
  const refused = await run('cluster', 'distribute');
  await service.close();
  assert.equal(refused.code, 1);
  const actions = async () =>
    (await database.asOwner<{ action: string }>('SELECT action FROM audit_entries ORDER BY id')).rows.map(
      ({ action }) => action,
    );
  assert.deepEqual(await actions(), [], 'what is refused is not done');
  assert.match(refused.stderr, /^1 connections of the service are open; stop every process of it/m);
  const done = await run('cluster', 'distribute');
  assert.equal(done.code, 0, done.stderr);
  assert.match(done.stdout, /^The tables are where they belong: \d+ were distributed now, \d+ foreign keys added\.$/m);
  const again = await run('cluster', 'distribute');
  assert.match(again.stdout, /: 0 were distributed now, 0 foreign keys added\.$/m);
  const eachRun = ['cluster.distribute', 'cluster.result'];
  assert.deepEqual(await actions(), [...eachRun, ...eachRun]);
});
