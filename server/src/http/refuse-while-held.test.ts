import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createApiClient } from '../../../test/harness/api-client.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { startService, testKeys, type TestService } from '../../../test/harness/service.ts';
import { insertRestore } from '../backups/hold.ts';
import { runCommand } from '../operator/run-command.ts';

let database: TestDatabase;
let service: TestService;

before(async () => {
  database = await createTestDatabase();
  const id = '01939f00-0000-7000-8000-00000000a5f1';
  const { text, values } = insertRestore({ id, backup: null, restoredAt: new Date(), restoredTo: null });
  await database.asOwner(text, [...values]);
  service = await startService({ database });
});
after(async () => {
  await service.stop();
  await database.drop();
});

// The last two are other spellings of the first and the third.
const paths = [
  ...['/v1/payments', '/v1/transfers', '/pay/abc', '/link/abc', '/pos/1234567', '/simulator/phone/7000001'],
  ...['/dashboard/test/Ab12Cd34/links/new', '/dashboard/live/Ab12Cd34/links/new', '/%76%31/payments', '/p%61y/abc'],
];

test('what would begin or change something on a restored copy is refused, however its address is written', async () => {
  const { test: shop } = await service.onboard();
  const api = createApiClient(service.url, shop.key);
  for (const path of paths) {
    const { status } = await api.post(path, { data: { amount: 5, network: 'aps', account_number: '7000001' } });
    assert.equal(status, 503, path);
  }
  assert.equal((await api.get('/v1/payments')).status, 200, 'reading goes on');
});

test('a hold and a release reach a process that runs, such as one whose database was restored in place', async () => {
  const { test: shop } = await service.onboard();
  const api = createApiClient(service.url, shop.key);
  const statusOf = async () => (await api.post('/v1/payments', { data: { amount: 5 } })).status;
  for (const [command, status] of [
    ['release', 201],
    ['hold', 503],
    ['release', 201],
  ] as const) {
    await operate(command);
    await eventually(`the process knows of the ${command}`, async () => (await statusOf()) === status);
  }
});

async function operate(command: 'hold' | 'release'): Promise<void> {
  let stderr = '';
  const code = await runCommand(['restore', command], {
    environment: { ...testKeys, APP_ENV: 'development', APP_DATABASE_URL: database.appUrl },
    stdout: { write: () => true },
    stderr: { write: (text) => (stderr += text) },
  });
  assert.equal(code, 0, stderr);
}
