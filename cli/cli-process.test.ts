import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createApiClient, type ApiClient } from '../test/harness/api-client.ts';
import { startCallbackReceiver, type CallbackReceiver } from '../test/harness/callback-receiver.ts';
import { eventually } from '../test/harness/eventually.ts';
import { startService, type TestMerchant, type TestService } from '../test/harness/service.ts';
import { CliProcessWorld } from './cli-process.corpus.ts';

// What only a real process shows: signals, terminals, pipes. Each command is tested beside its file, in process.

const world = new CliProcessWorld();
let service: TestService;
let merchant: TestMerchant;
let receiver: CallbackReceiver;
let api: ApiClient;
let settings: Record<string, string>;

before(async () => {
  service = await startService();
  ({ test: merchant } = await service.onboard());
  receiver = await startCallbackReceiver();
  api = createApiClient(service.url, merchant.key);
  settings = { DALASI_API_KEY: merchant.key, DALASI_URL: service.url };
});

after(async () => {
  world.close();
  await receiver.close();
  await service.stop();
});

async function changeEndpoint(change: Record<string, unknown>): Promise<void> {
  const body = JSON.stringify(change);
  const headers = { 'content-type': 'application/json' };
  const response = await api.send('PUT', `/v1/webhook-endpoints/${merchant.endpointId}`, { body, headers });
  assert.equal(response.status, 200, response.text);
}

async function newCustomer(): Promise<void> {
  assert.equal((await api.post('/v1/customers', { name: 'Awa Ceesay' })).status, 201);
}

test('a process reads its arguments, environment and input, and sets outputs and exit code', async () => {
  const verify = ['webhooks', 'verify', '--header', 'webhook-id: x', '--json'];
  const [wrong, mistyped] = await Promise.all([
    world.run(verify, { DALASI_WEBHOOK_SECRET: merchant.webhookSecret }, '{}'),
    world.run(['lisen']),
  ]);
  assert.deepEqual([wrong.code, wrong.stderr], [1, '']);
  assert.equal((JSON.parse(wrong.stdout) as { verified: boolean }).verified, false);
  assert.deepEqual(mistyped, {
    code: 2,
    stdout: '',
    stderr: 'There is no command "lisen". Did you mean listen? See: dalasi --help\n',
  });
});

test('no command loads the HTTP client or the larger packages before it needs them', async () => {
  const hooks = `import { registerHooks } from 'node:module';
    const loaded = new Set();
    registerHooks({ load: (url, context, next) => {
      loaded.add(/[/]node_modules[/]([^/]+)/.exec(url)?.[1] ?? url);
      return next(url, context);
    } });
    process.on('exit', () => console.error(JSON.stringify([...loaded])));`;
  const words = ['--import', `data:text/javascript,${encodeURIComponent(hooks)}`, `${import.meta.dirname}/main.ts`];
  // Help knows all commands, so it loads the files of each.
  const { stderr } = await world.startProgram([process.execPath, ...words, '--help'], {}, '').ended;
  const loaded = JSON.parse(stderr) as string[];
  assert.ok(loaded.some((url) => url.endsWith('/cli/webhooks/check.ts')));
  assert.deepEqual(loaded.filter((url) => /^(?!file:|node:)|^node:https?$/.test(url)).toSorted(), [
    'fastest-levenshtein',
    'uuid',
  ]);
});

test('a reader that closes the output early ends the command without an error', async () => {
  const command = `'${process.execPath}' '${import.meta.dirname}/main.ts' --help | true; exit "\${PIPESTATUS[0]}"`;
  const { code, stderr } = await world.startProgram(['bash', '-c', command], {}, '').ended;
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
});

test('a check that fails ends with 1 also when its reader closes the output early', async () => {
  const program = `'${process.execPath}' '${import.meta.dirname}/main.ts'`;
  const command = `${program} webhooks verify --header 'webhook-id: x' | true; exit "\${PIPESTATUS[0]}"`;
  const environment = { DALASI_WEBHOOK_SECRET: merchant.webhookSecret };
  const { code, stderr } = await world.startProgram(['bash', '-c', command], environment, '{}').ended;
  assert.deepEqual({ code, stderr }, { code: 1, stderr: '' });
});

test('SIGINT and SIGTERM end a following command with its summary and exit code 0', async () => {
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    const running = world.start(['listen', '--forward-to', `${receiver.url}/events`], settings);
    await running.printed(/Ctrl-C ends it/);
    running.signal(name);
    const { code, stdout, stderr } = await running.ended;
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /\nForwarded 0 events to \S+\/events: 0 accepted, 0 not\.\n$/);
  }
});

test('output at a terminal has colours unless NO_COLOR is set', async () => {
  const body = join(world.directory, 'body.json');
  writeFileSync(body, '{}');
  const words = ['webhooks', 'verify', body, '--header', 'webhook-id: x'];
  const secret = { DALASI_WEBHOOK_SECRET: merchant.webhookSecret };
  const [coloured, plain] = await Promise.all([
    world.startAtTerminal(words, secret).ended,
    world.startAtTerminal(words, { ...secret, NO_COLOR: '1' }).ended,
  ]);
  assert.ok(coloured.stdout.includes('\u001b[31mdoes not verify\u001b[39m'), coloured.stdout);
  assert.match(plain.stdout, /does not verify/);
  assert.ok(!plain.stdout.includes('\u001b'), plain.stdout);
});

test('a terminal prompts for the key and does not show what is typed', async () => {
  const running = world.startAtTerminal(['keys', 'save', 'shop', '--url', service.url]);
  await running.printed(/API key \(it is not shown\): /);
  running.type(`${merchant.key}\r`);
  await running.printed(/shop is the key in use/);
  running.type('\u0004');
  const { code, stdout } = await running.ended;
  assert.equal(code, 0, stdout);
  assert.ok(!stdout.includes(merchant.key));
});

test('a terminal asks for confirmation, and only y resends', async () => {
  await changeEndpoint({ url: `${receiver.url}/events`, enabled_events: ['customer.created'], status: 'disabled' });
  await newCustomer();
  await eventually('the delivery is kept', async () => {
    const { body } = await api.get('/v1/events');
    const rows = body['data'] as { deliveries: { status: string }[] }[];
    return rows.every(({ deliveries }) => deliveries.length === 1 && deliveries[0]?.status === 'kept');
  });
  await changeEndpoint({ status: 'enabled' });
  for (const [typed, expected, message] of [
    ['n', 1, /Nothing was sent\./],
    ['y', 0, /1 event is queued for delivery/],
  ] as const) {
    const running = world.startAtTerminal(['events', 'resend', '--endpoint', merchant.endpointId], settings);
    await running.printed(/Send 1 event to endpoint \S+ again\? \[y\/N\]/);
    assert.equal(receiver.received.length, 0);
    running.type(`${typed}\r`);
    await running.printed(message);
    running.type('\u0004');
    assert.equal((await running.ended).code, expected);
  }
  await eventually('it arrived', () => receiver.received.length === 1);
});
