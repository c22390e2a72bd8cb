import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createApiClient, type ApiResponse } from '../../../test/harness/api-client.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { startService, testKeys, type TestBusiness, type TestService } from '../../../test/harness/service.ts';
import { asOwner } from '../../../test/harness/tables.ts';
import { sealContext } from '../http/idempotency.ts';
import { sealedResponses } from '../http/sealed-responses.ts';
import { readConfig } from '../configuration/config.ts';
import { readSecrets } from '../configuration/secrets.ts';
import { openKeyring } from '../keyring/keyring.ts';
import { systemRandom } from '../kit/random.ts';
import { createSealer, type Sealer } from '../kit/seal.ts';
import { resealStore } from '../keyring/sealed-store.ts';
import { keyringParts } from '../process/open-secrets.ts';
import { runCommand } from './run-command.ts';

const newKey = 'a1'.repeat(32);
const rotated = { SEAL_KEY: newKey, SEAL_KEYS_OLD: testKeys.SEAL_KEY };
const newKeyId = createSealer(newKey).keyId;

let clock: ManualClock;
let service: TestService;
let business: TestBusiness;

before(async () => {
  clock = new ManualClock();
  service = await startService({ clock });
  business = await service.onboard();
});

after(() => service.stop());

/** What happens while `secrets reseal` waits for other processes. */
let duringWait: () => Promise<unknown> = () => Promise.resolve();

/** A command on the service's database, in an environment with these keys. */
async function run(keys: Record<string, string>, ...words: string[]) {
  const written = { stdout: '', stderr: '' };
  const shell = {
    environment: { ...testKeys, APP_ENV: 'development', APP_DATABASE_URL: service.database.appUrl, ...keys },
    stdout: { write: (text: string) => (written.stdout += text) },
    stderr: { write: (text: string) => (written.stderr += text) },
    clock: {
      now: () => clock.now(),
      sleep: async (ms: number) => {
        await duringWait();
        await clock.advance(ms);
      },
    },
  };
  return { code: await runCommand(words, shell), ...written };
}

const pay = (url: string, idempotencyKey: string): Promise<ApiResponse> => {
  const data = { amount: 10, network: 'aps', account_number: '7000001' };
  return createApiClient(url, business.test.key).post('/v1/payments', { data }, { 'idempotency-key': idempotencyKey });
};

const methodId = async (url: string, payment: ApiResponse): Promise<unknown> => {
  const path = `/v1/transactions/${String(payment.body['payment_intent_id'])}`;
  return (await createApiClient(url, business.test.key).get(path)).body['payment_method_id'];
};

/** Stores responses under these idempotency keys, sealed with this sealer. */
async function storeResponses(sealer: Sealer, keys: readonly string[]): Promise<void> {
  const merchantId = business.live.merchant.id;
  const responses = keys.map((key) => sealer.seal(key, sealContext({ merchantId, path: '/p', key })));
  await asOwner(
    service,
    `INSERT INTO idempotency_keys (merchant_id, path, key, fingerprint, status_code, response, created_at)
     SELECT $1, '/p', key, '', 201, response, $4 FROM unnest($2::text[], $3::bytea[]) AS given (key, response)`,
    [merchantId, keys, responses, clock.now()],
  );
}

test('a command with a new seal key leaves running processes ready, and seals nothing with it', async () => {
  assert.equal((await run(rotated, 'businesses', 'list')).code, 0);
  assert.equal((await run(rotated, 'keys', 'create', '--merchant', business.test.merchant.id)).code, 0);
  assert.equal((await run(rotated, 'secrets', 'reseal', '--dry-run')).code, 0);
  for (const words of [
    ['businesses', 'create', 'Sealed too early'],
    ['secrets', 'reseal'],
  ]) {
    const refused = await run(rotated, ...words);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /^The service has not been started with this SEAL_KEY, /);
  }
  assert.doesNotMatch((await run(rotated, 'businesses', 'list')).stdout, /Sealed too early/);
  await clock.advance(5_000);
  assert.equal((await createApiClient(service.url, '').get('/readyz')).status, 200);
});

test('values under an old key are resealed in steps, and the key can go when none is left', async () => {
  const api = createApiClient(service.url, business.test.key);
  const first = await pay(service.url, 'first');
  assert.equal(first.status, 201, first.text);
  const method = await methodId(service.url, first);
  assert.equal((await api.post(`/v1/webhook-endpoints/${business.test.endpointId}/rotate-secret`)).status, 200);

  // The next start has the new key; this service goes on with the old one.
  const next = await startService({ clock, database: service.database, settings: rotated });
  assert.equal(await methodId(next.url, first), method, 'the ids made from numbers stay');
  assert.equal((await pay(next.url, 'second')).status, 201);
  await clock.advance(5_000);
  const unready = await createApiClient(service.url, '').get('/readyz');
  assert.deepEqual([unready.status, JSON.parse(unready.text).checks.seal_key], [503, 'wrong']);
  const replay = await pay(service.url, 'second');
  assert.deepEqual([replay.status, replay.headers.get('retry-after')], [503, '1'], 'sealed with a key it lacks');
  const hook = { url: 'https://example.com/hook' };
  for (const refused of [await pay(service.url, 'third'), await api.post('/v1/webhook-endpoints', hook)]) {
    const { status, body, headers, text } = refused;
    assert.deepEqual([status, body['code'], headers.get('retry-after')], [503, 'unavailable', '1'], text);
  }
  const { checks } = JSON.parse((await createApiClient(service.url, '').get('/readyz')).text);
  assert.equal(checks.unreadable_values, 1);
  const metrics = await createApiClient(service.url, '').get('/metrics');
  assert.match(metrics.text, /^dalasi_sealed_values_unreadable_total\{reason="key_missing"\} 1$/m);

  const plan = await run(rotated, 'secrets', 'reseal', '--dry-run', '--json');
  assert.equal(plan.code, 0, plan.stderr);
  const planned = JSON.parse(plan.stdout).sealed as { what: string; count: number }[];
  // Two merchants, one of whom has rotated.
  assert.equal(planned.find(({ what }) => what === 'webhook secrets')?.count, 3);
  assert.equal(planned.find(({ what }) => what === 'secrets of the installation')?.count, 1);

  await asOwner(service, "UPDATE idempotency_keys SET response = response || '\\x00' WHERE key = 'first'");
  const halfDone = await run(rotated, 'secrets', 'reseal', '--json');
  assert.equal(halfDone.code, 1, halfDone.stdout + halfDone.stderr);
  const done = JSON.parse(halfDone.stdout);
  assert.deepEqual([done.resealed, done.unreadable, done.retired_seal_keys], [4, 1, []]);
  const refused = await run({ SEAL_KEY: newKey }, 'businesses', 'list');
  assert.match(refused.stderr, /^SEAL_KEY is not the key that this database was sealed with: /);

  await asOwner(
    service,
    "UPDATE idempotency_keys SET response = substring(response from 1 for length(response) - 1) WHERE key = 'first'",
  );
  // A request that had compared its key before the new one came commits while the command waits.
  duringWait = async () => {
    duringWait = () => Promise.resolve();
    await storeResponses(createSealer(testKeys.SEAL_KEY), ['late']);
  };
  const rest = JSON.parse((await run(rotated, 'secrets', 'reseal', '--json')).stdout);
  assert.deepEqual([rest.resealed, rest.unreadable, rest.retired_seal_keys.length], [2, 0, 1]);
  const shown = await run({ SEAL_KEY: newKey }, 'secrets', 'show', '--json');
  const sealed = JSON.parse(shown.stdout).sealed as { seal_key: string }[];
  assert.deepEqual([...new Set(sealed.map(({ seal_key: id }) => id))], [newKeyId]);
  await next.stop();

  const last = await startService({ clock, database: service.database, settings: { SEAL_KEY: newKey } });
  const replayed = await pay(last.url, 'first');
  assert.deepEqual([replayed.text, replayed.headers.get('idempotent-replayed')], [first.text, 'true']);
  assert.equal(await methodId(last.url, first), method);
  await last.stop();
});

test('resealing resumes after an interruption and reports its progress', async () => {
  const [old, current] = [createSealer(testKeys.SEAL_KEY), createSealer(newKey, [testKeys.SEAL_KEY])];
  const merchantId = business.live.merchant.id;
  await storeResponses(
    old,
    Array.from({ length: 450 }, (_, number) => `response ${number}`),
  );
  const left = async () => {
    const counts = await sealedResponses.countByKey(service.db);
    return Number(counts.find(({ keyId }) => keyId === old.keyId)?.count ?? 0n);
  };
  const total = await left();
  const interrupted = resealStore(service.db, sealedResponses, {
    sealer: current,
    onProgress: () => assert.fail('interrupted'),
  });
  await assert.rejects(interrupted, /interrupted/);
  assert.equal(await left(), total - 200);
  const progress: number[] = [];
  const { resealed } = await resealStore(service.db, sealedResponses, {
    sealer: current,
    onProgress: (seen) => progress.push(seen),
  });
  assert.deepEqual([resealed, await left()], [total - 200, 0]);
  assert.deepEqual(
    progress.toSorted((a, b) => a - b),
    progress,
  );
  const [row] = await asOwner<{ response: Buffer }>(
    service,
    "SELECT response FROM idempotency_keys WHERE merchant_id = $1 AND key = 'response 449'",
    [merchantId],
  );
  const context = sealContext({ merchantId, path: '/p', key: 'response 449' });
  assert.equal(
    createSealer(newKey)
      .open(row?.response ?? Buffer.alloc(0), context)
      .toString(),
    'response 449',
  );
});

test('resealing that is interrupted while it waits stands in the audit log, and again when it ends', async () => {
  const entries = () =>
    asOwner<{ action: string; values: string }>(
      service,
      `SELECT action, changes -> 0 ->> 'after' AS values FROM audit_entries WHERE action LIKE 'secrets.reseal%' ORDER BY id`,
    );
  const earlier = (await entries()).length;
  await storeResponses(createSealer(testKeys.SEAL_KEY), ['interrupted 1', 'interrupted 2']);
  duringWait = () => Promise.reject(new Error('killed'));
  assert.equal((await run(rotated, 'secrets', 'reseal')).code, 1);
  assert.deepEqual((await entries()).slice(earlier), [{ action: 'secrets.reseal', values: '2' }]);
  await clock.advance(1_000);
  duringWait = () => Promise.resolve();
  assert.equal((await run(rotated, 'secrets', 'reseal')).code, 0);
  assert.deepEqual((await entries()).slice(earlier + 1), [
    { action: 'secrets.reseal', values: '0' },
    { action: 'secrets.reseal_result', values: '0' },
  ]);
});

test('a key with which a ready process still seals is not retired, and the command says so', async () => {
  const other = 'c3'.repeat(32);
  const configured = readSecrets(readConfig({ ...testKeys, SEAL_KEY: other, SEAL_KEYS_OLD: newKey }), systemRandom);
  const keyring = await openKeyring(keyringParts(configured, { db: service.db, clock }));
  duringWait = () => keyring.state();
  const done = await run({ SEAL_KEY: newKey, SEAL_KEYS_OLD: other }, 'secrets', 'reseal');
  duringWait = () => Promise.resolve();
  assert.equal(done.code, 1, done.stderr);
  assert.match(done.stdout, new RegExp(`A process still seals with ${configured.sealer.keyId}: .*\\.$`, 'm'));
  const gone = await run({ SEAL_KEY: newKey, SEAL_KEYS_OLD: other }, 'secrets', 'reseal');
  assert.match(gone.stdout, /You can remove SEAL_KEYS_OLD\.\nKeep the old key [^]* backups from before/);
});

test('every column of sealed values belongs to a store that is resealed', async () => {
  const columns = await asOwner<{ name: string }>(
    service,
    `SELECT table_name || '.' || column_name AS name FROM information_schema.columns
     WHERE data_type = 'bytea' AND table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1`,
  );
  // List a new column of bytes here. A sealed one needs a store in secret-commands.ts.
  const sealed = [
    'accounts.totp_secret',
    'idempotency_keys.response',
    'installation_secrets.sealed',
    'mails.sealed_text',
    'rail_credentials.sealed',
    'webhook_endpoints.previous_secret',
    'webhook_endpoints.secret',
  ];
  const notSealed = [
    'account_attempts.key_hash',
    'account_passkeys.public_key',
    'account_recovery_codes.code_hash',
    'account_sessions.token_hash',
    'account_tokens.token_hash',
    'api_keys.key_hmac',
    'audit_blocks.hash',
    'audit_blocks.row_checks',
    'idempotency_keys.fingerprint',
    'invitations.token_hash',
    'key_checks.check_value',
    'key_checks.key_id',
    'merchant_logos.png',
    'movement_blocks.hash',
    'movement_blocks.row_checks',
    'network_inbox.body',
    'operators.credential_hmac',
  ];
  assert.deepEqual(
    columns.map(({ name }) => name),
    [...sealed, ...notSealed].toSorted(),
  );
});

test('an API key is created only after the pepper is verified', async () => {
  await asOwner(service, "DELETE FROM key_checks WHERE setting = 'KEY_PEPPER'");
  const create = ['keys', 'create', '--merchant', business.test.merchant.id];
  const seal = { SEAL_KEY: newKey };
  const refused = await run(seal, ...create);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /secrets accept KEY_PEPPER$/m);
  assert.equal((await run(seal, 'secrets', 'accept', 'KEY_PEPPER')).code, 0);
  assert.equal((await run(seal, ...create)).code, 0);
  const wrong = await run({ ...seal, KEY_PEPPER: 'b2'.repeat(32) }, 'secrets', 'show');
  assert.equal(wrong.code, 1);
  assert.match(wrong.stdout, /^KEY_PEPPER is WRONG\.$/m);
});
