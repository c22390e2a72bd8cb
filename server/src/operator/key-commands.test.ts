import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createApiClient } from '../../../test/harness/api-client.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { startService, testKeys, type TestMerchant, type TestService } from '../../../test/harness/service.ts';
import { addMs, dayMs } from '../kit/clock.ts';
import { runCommand } from './run-command.ts';

const clock = new ManualClock();
let service: TestService;
let merchant: TestMerchant;

before(async () => {
  service = await startService({ clock });
  merchant = (await service.onboard()).live;
});

after(() => service.stop());

async function run(...words: string[]) {
  const written = { stdout: '', stderr: '' };
  const code = await runCommand([...words, '--merchant', merchant.merchant.id], {
    environment: { ...testKeys, APP_ENV: 'development', APP_DATABASE_URL: service.database.appUrl },
    stdout: { write: (text: string) => (written.stdout += text) },
    stderr: { write: (text: string) => (written.stderr += text) },
    clock,
  });
  return { code, ...written };
}

async function runJson(...words: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await run(...words, '--json');
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as Record<string, unknown>;
}

async function listed(id: unknown): Promise<Record<string, unknown> | undefined> {
  const keys = (await runJson('keys', 'list')) as unknown as Record<string, unknown>[];
  return keys.find((key) => key['id'] === id);
}

async function refusalOf(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(...words);
  assert.deepEqual([code, stdout], [2, ''], stderr);
  return stderr;
}

test('a key is created with the scopes, the end and the addresses of the options', async () => {
  const scopes = ['--scopes', 'charge, read'];
  const addresses = ['--addresses', '192.0.2.0/24,2001:DB8::7'];
  const { id } = await runJson('keys', 'create', '--name', 'Till', '--expires', '90d', ...scopes, ...addresses);
  const expected = { name: 'Till', state: 'expires', scopes: ['read', 'charge'], last_used_at: null };
  const { name, state, scopes: stored, last_used_at, ...key } = (await listed(id)) ?? {};
  assert.deepEqual({ name, state, scopes: stored, last_used_at }, expected);
  assert.deepEqual(key['addresses'], ['192.0.2.0/24', '2001:db8::7']);
  assert.equal(key['expires_at'], addMs(clock.now(), 90 * dayMs).toISOString());
});

test('a key without options has all rights for ever; a day as its end includes that day', async () => {
  const all = await listed((await runJson('keys', 'create'))['id']);
  assert.deepEqual(
    [all?.['scopes'], all?.['addresses'], all?.['expires_at'], all?.['state']],
    [['read', 'charge', 'payout'], null, null, 'active'],
  );
  const { id } = await runJson('keys', 'create', '--expires', '2027-01-31');
  assert.equal((await listed(id))?.['expires_at'], '2027-01-31T23:59:59.999Z');
});

test('a rolled key is replaced at once and ends after the overlap', async () => {
  const old = await runJson('keys', 'create', '--scopes', 'read');
  const rolled = await runJson('keys', 'roll', String(old['id']), '--overlap', '2h');
  const endsAt = addMs(clock.now(), dayMs / 12).toISOString();
  assert.deepEqual(rolled['previous'], { id: old['id'], expires_at: endsAt });
  const replaced = await listed(old['id']);
  assert.deepEqual([replaced?.['rolled_to'], replaced?.['expires_at']], [rolled['id'], endsAt]);
  const { status } = await createApiClient(service.url, String(rolled['secret_key'])).get('/v1/payments');
  assert.equal(status, 200);
});

test('the list shows the state, the scopes and the last use of each key', async () => {
  const { id, secret_key: key } = await runJson('keys', 'create', '--name', 'Shop');
  await createApiClient(service.url, String(key)).get('/v1/payments');
  await service.app.drain();
  const rolled = await runJson('keys', 'roll', String(id), '--overlap', '0s');
  await run('keys', 'revoke', String(rolled['id']));
  const { stdout } = await run('keys', 'list');
  const rows = stdout.split('\n').filter((row) => row.endsWith('Shop'));
  const minute = clock.now().toISOString().slice(0, 16);
  assert.match(rows[0] ?? '', new RegExp(`sk_live_….{4}  expired ${minute} +read,charge,payout  ${minute}  Shop$`));
  assert.match(rows[1] ?? '', new RegExp(`sk_live_….{4}  revoked ${minute} +read,charge,payout  never +Shop$`));
});

test('a live key that can pay out and is not used for 90 days is shown as idle', async () => {
  const { id } = await runJson('keys', 'create');
  await clock.jump(90 * dayMs);
  assert.equal((await listed(id))?.['state'], 'idle');
});

test('a wrong option is refused in a sentence with exit code 2, and creates nothing', async () => {
  const { length } = Object.keys(await runJson('keys', 'list'));
  assert.match(await refusalOf('keys', 'create', '--scopes', 'admin'), /scopes read, charge, payout/);
  assert.match(await refusalOf('keys', 'create', '--scopes', ''), /scopes read, charge, payout/);
  assert.match(await refusalOf('keys', 'create', '--expires', 'soon'), /^--expires is 90d, a day/);
  assert.match(await refusalOf('keys', 'create', '--expires', '2026-01-31'), /in the future/);
  assert.match(await refusalOf('keys', 'create', '--addresses', '192.0.2.7/24'), /"192\.0\.2\.7\/24" is neither/);
  const { id } = await runJson('keys', 'create');
  assert.match(await refusalOf('keys', 'roll', String(id), '--overlap', '8d'), /0 seconds to 7 days/);
  assert.match(await refusalOf('keys', 'roll', String(id), '--overlap', 'later'), /^--overlap is a duration/);
  assert.match(await refusalOf('keys', 'roll', 'unknown'), /no API key with this id/);
  assert.match(await refusalOf('keys', 'revoke', 'unknown'), /no API key with this id/);
  assert.equal(Object.keys(await runJson('keys', 'list')).length, length + 1);
});
