import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { eventKinds } from '../../server/src/events/kinds.ts';
import { systemRandom } from '../../server/src/kit/random.ts';
import { createApiKeyText } from '../../server/src/merchants/api-key.ts';
import { createApiClient, type ApiClient } from '../../test/harness/api-client.ts';
import {
  startCallbackReceiver,
  type CallbackReceiver,
  type ReceivedCallback,
} from '../../test/harness/callback-receiver.ts';
import { eventually } from '../../test/harness/eventually.ts';
import { startService, type TestBusiness, type TestService } from '../../test/harness/service.ts';
import { startTcpProxy } from '../../test/harness/tcp-proxy.ts';
import { CliWorld, unusedUrl, type CallableCli } from '../run-cli.corpus.ts';

let service: TestService;
let business: TestBusiness;
let api: ApiClient;
let receiver: CallbackReceiver;
const receivers: CallbackReceiver[] = [];
const world = new CliWorld();

before(async () => {
  service = await startService();
});

beforeEach(async () => {
  business = await service.onboard();
  api = createApiClient(service.url, business.test.key);
  receiver = await newReceiver();
});

after(async () => {
  await world.close();
  for (const opened of receivers) await opened.close();
  await service.stop();
});

async function newReceiver(port = 0): Promise<CallbackReceiver> {
  const opened = await startCallbackReceiver({ port });
  receivers.push(opened);
  return opened;
}

function listen(words: readonly string[] = [], settings: Record<string, string> = {}): CallableCli {
  const all = ['listen', '--forward-to', `${receiver.url}/events`, ...words];
  return world.start(all, { DALASI_API_KEY: business.test.key, DALASI_URL: service.url, ...settings });
}

/** Resolves once new events are forwarded. */
async function listening(words: readonly string[] = [], settings: Record<string, string> = {}): Promise<CallableCli> {
  const running = listen(words, settings);
  await running.printed(/Ctrl-C ends it|forward_to/);
  return running;
}

async function newCustomer(metadata: Record<string, unknown> = {}): Promise<string> {
  const created = await api.post('/v1/customers', { name: 'Awa Ŋ Ceesay \u2028', metadata });
  assert.equal(created.status, 201, created.text);
  return String(created.body['id']);
}

async function eventuallyReceived(isSo: () => boolean): Promise<void> {
  await eventually('it is received', isSo);
}

async function stop(running: CallableCli): Promise<{ code: number | null; stdout: string; stderr: string }> {
  running.interrupt();
  return running.ended;
}

function of(received: readonly ReceivedCallback[], objectId: string): ReceivedCallback[] {
  return received.filter(({ body }) => body.includes(`"data":{"id":"${objectId}"`));
}

test('a forwarded event has the bytes and headers that a webhook endpoint gets', async () => {
  const endpoint = await newReceiver();
  const headers = { 'content-type': 'application/json' };
  const path = `/v1/webhook-endpoints/${business.test.endpointId}`;
  const change = {
    url: `${endpoint.url}/events`,
    enabled_events: eventKinds.filter((kind) => !kind.startsWith('webhook')),
  };
  assert.equal((await api.send('PUT', path, { body: JSON.stringify(change), headers })).status, 200);
  const running = await listening();
  const metadata = `{"b":1.50,"10":"ten","2":[1e3,1.0e-7,0.1],"text":"ŋ \\u2028 \\ud83d\\ude00 \\" \\\\ /","nothing":{}}`;
  const body = `{"name":"Awa","metadata":${metadata}}`;
  const created = await api.send('POST', '/v1/customers', { body, headers });
  assert.equal(created.status, 201, created.text);
  const paid = { amount: 450.5, network: 'aps', account_number: '7000001', metadata: { n: 1.5 } };
  assert.equal((await api.post('/v1/payments', { data: paid })).status, 201);
  const ids = (received: readonly ReceivedCallback[]) =>
    received.map(({ headers: sent }) => String(sent['webhook-id']));
  await eventuallyReceived(() => ids(endpoint.received).length === 4 && ids(receiver.received).length === 4);
  for (const sent of endpoint.received) {
    const id = sent.headers['webhook-id'];
    const same = receiver.received.filter(({ headers: got }) => got['webhook-id'] === id);
    assert.deepEqual(
      same.map((got) => got.body.toString('utf8')),
      [sent.body.toString('utf8')],
    );
    assert.deepEqual(Object.keys(same[0]?.headers ?? {}).toSorted(), Object.keys(sent.headers).toSorted());
    assert.equal(same[0]?.headers['user-agent'], sent.headers['user-agent']);
  }
  await stop(running);
});

test('events are signed with the secret of the environment, of a file, or a new one that is shown', async () => {
  const secretFile = join(world.directory, 'secret.txt');
  const { webhookSecret } = business.test;
  writeFileSync(secretFile, `${webhookSecret}\n`);
  const cases: [string[], Record<string, string>][] = [
    [[], { DALASI_WEBHOOK_SECRET: webhookSecret }],
    [['--secret-file', secretFile], {}],
    [[], {}],
  ];
  for (const [words, settings] of cases) {
    receiver.received.length = 0;
    const running = await listening(words, settings);
    await newCustomer();
    await eventuallyReceived(() => receiver.received.length === 1);
    const { stdout } = await stop(running);
    const [, shown] = /Signed with a secret made for this run: (wh_\S+)/.exec(stdout) ?? [];
    assert.equal(shown === undefined, words.length + Object.keys(settings).length > 0, stdout);
    assert.ok(!stdout.includes(webhookSecret), 'what the receiver knows already is not shown');
    const [got] = receiver.received;
    const secret = shown ?? webhookSecret;
    assert.ok(got);
    new Webhook(secret.slice('wh_'.length)).verify(got.body, got.headers as Record<string, string>);
    assert.match(String(got.headers['x-service-signature']), /^[0-9a-f]{128}$/);
  }
});

test('each event is printed with the response and its duration, and Ctrl-C prints a summary', async () => {
  receiver.respondWith(500);
  const running = await listening();
  const id = await newCustomer();
  await running.printed(new RegExp(`customer\\.created {2}${id} {2}500 in \\d+ ms`));
  receiver.respondWith(204);
  const other = await newCustomer();
  await running.printed(new RegExp(`^\\d\\d:\\d\\d:\\d\\d {2}customer\\.created {2}${other} {2}204 in \\d+ ms$`, 'm'));
  const { code, stdout, stderr } = await stop(running);
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /\nForwarded 2 events to \S+\/events: 1 accepted, 1 not\.\n$/);
});

test('with --json each line is a document: the start, each event, the summary', async () => {
  const running = await listening(['--json'], { DALASI_WEBHOOK_SECRET: business.test.webhookSecret });
  await newCustomer();
  await running.printed(/duration_ms/);
  const { stdout } = await stop(running);
  const [start, event, ...rest] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.equal(start?.['signed_with'], 'DALASI_WEBHOOK_SECRET');
  assert.equal(start['secret'], undefined);
  assert.deepEqual([event?.['event'], event?.['status'], event?.['failure']], ['customer.created', 200, null]);
  assert.deepEqual(rest, [{ forwarded: 1, accepted: 1, refused: 0 }]);
});

test('--event limits the kinds, and --since adds events of the past', async () => {
  const before = await newCustomer();
  const deleted = await newCustomer();
  assert.equal((await api.send('DELETE', `/v1/customers/${deleted}`)).status, 200);
  const running = listen(['--event', 'customer.created', '--since', '1h']);
  await eventuallyReceived(
    () => of(receiver.received, before).length === 1 && of(receiver.received, deleted).length === 1,
  );
  const { stdout } = await stop(running);
  assert.doesNotMatch(stdout, /customer\.deleted/);
});

test('while the local server is down, events wait and then arrive in order', async () => {
  const url = await unusedUrl();
  const running = world.start(['listen', '--forward-to', url, '--since', '1h'], {
    DALASI_API_KEY: business.test.key,
    DALASI_URL: service.url,
  });
  const ids = [await newCustomer(), await newCustomer()];
  await running.printed(/No server listens at \S+ \(refused\)\. Events wait until one does\./);
  const late = await newReceiver(Number(new URL(url).port));
  await eventuallyReceived(() => late.received.length === 2);
  assert.deepEqual(
    late.received.map(({ body }) => (JSON.parse(body.toString('utf8')) as { data: { id: string } }).data.id),
    ids,
  );
  await running.printed(/is reachable again\./);
  const { stderr } = await stop(running);
  assert.equal(stderr.match(/No server listens/g)?.length, 1);
});

test('while the API is unreachable, listen waits and then forwards what happened meanwhile', async () => {
  const { port } = new URL(service.url);
  const line = await startTcpProxy({ host: 'localhost', port: Number(port) });
  const running = await listening([], { DALASI_URL: `http://127.0.0.1:${line.port}` });
  await line.cut();
  await running.printed(/Retrying until it works\./);
  const id = await newCustomer();
  await line.restore();
  await eventuallyReceived(() => of(receiver.received, id).length === 1);
  const { stderr } = await stop(running);
  assert.equal(stderr.match(/Retrying/g)?.length, 1);
  assert.match(stderr, /is reachable again\.\n$/);
  await line.close();
});

test('a live key is refused without --live', async () => {
  const settings = { DALASI_API_KEY: business.live.key };
  const refused = await listen([], settings).ended;
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /is a live key, and its events are about real people\. Add --live/);
  const running = listen(['--live'], settings);
  await running.printed(/^Forwarding LIVE events/);
  assert.equal((await stop(running)).code, 0);
});

test('a malformed option ends the command with one sentence, and so does a refused key', async () => {
  const cases: [string[], Record<string, string>, number, RegExp][] = [
    [['--forward-to', 'ftp://localhost/x'], {}, 2, /^--forward-to: The URL must start with https:\/\/ or http:\/\/\.$/],
    [['--forward-to', 'localhost:3000'], {}, 2, /^--forward-to: /],
    [['--event', 'charge.sent'], {}, 2, /^There is no event "charge\.sent"/],
    [['--since', 'noon'], {}, 2, /^--since is a time such as/],
    [['--secret-file', '/nowhere/secret'], {}, 2, /^--secret-file: There is no file \/nowhere\/secret\.$/],
    [[], { DALASI_WEBHOOK_SECRET: 'secret' }, 2, /^The secret of DALASI_WEBHOOK_SECRET is not a webhook secret/],
    [['--service-header', 'x y'], {}, 2, /^--service-header is the name of a header/],
    [[], { DALASI_API_KEY: 'sk_test_x' }, 2, /^The key of DALASI_API_KEY is not an API key/],
    [[], { DALASI_API_KEY: createApiKeyText(systemRandom, true) }, 1, /API key/],
  ];
  for (const [words, settings, expected, sentence] of cases) {
    const { code, stderr } = await listen(words, settings).ended;
    assert.equal(code, expected, stderr);
    assert.match(stderr.trim(), sentence);
  }
});
