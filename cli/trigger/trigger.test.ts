import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventKinds } from '../../server/src/events/kinds.ts';
import { createApiClient } from '../../test/harness/api-client.ts';
import { startCallbackReceiver, type CallbackReceiver } from '../../test/harness/callback-receiver.ts';
import { startService, type TestBusiness, type TestService } from '../../test/harness/service.ts';
import { CliWorld, unusedUrl } from '../run-cli.corpus.ts';
import { recipes } from './recipes.ts';

let service: TestService;
let business: TestBusiness;
let receiver: CallbackReceiver;
const world = new CliWorld();

before(async () => {
  service = await startService();
  business = await service.onboard();
  receiver = await startCallbackReceiver();
  const api = createApiClient(service.url, business.test.key);
  const response = await api.send('PUT', `/v1/webhook-endpoints/${business.test.endpointId}`, {
    body: JSON.stringify({ url: `${receiver.url}/events`, enabled_events: ['customer.deleted'] }),
    headers: { 'content-type': 'application/json' },
  });
  assert.equal(response.status, 200, response.text);
});

after(async () => {
  await world.close();
  await receiver.close();
  await service.stop();
});

const settings = () => ({ DALASI_API_KEY: business.test.key, DALASI_URL: service.url });

const possible = eventKinds.filter((kind) => !('cannot' in recipes[kind]));

for (const kind of possible) {
  test(`trigger ${kind} prints the event that it caused`, async () => {
    const { code, stdout, stderr } = await world.run(['trigger', kind, '--amount', '450.50', '--json'], settings());
    assert.equal(code, 0, stderr);
    const made = JSON.parse(stdout) as Record<string, unknown>;
    const { body } = await createApiClient(service.url, business.test.key).get(`/v1/events/${String(made['id'])}`);
    assert.deepEqual([body['event'], body['object_id']], [kind, made['object_id']]);
    const { amount } = body['data'] as { amount?: number };
    if (amount !== undefined) assert.equal(amount, 450.5);
  });
}

test('an event that takes days or needs a receiver is explained and not triggered', async () => {
  for (const kind of eventKinds.filter((known) => !possible.includes(known))) {
    const { code, stderr } = await world.run(['trigger', kind], settings());
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`^${kind} comes when `));
  }
});

test('a live key triggers nothing', async () => {
  const { code, stderr } = await world.run(['trigger', 'charge.succeeded'], {
    ...settings(),
    DALASI_API_KEY: business.live.key,
  });
  assert.equal(code, 2);
  assert.equal(stderr, 'The key of DALASI_API_KEY is a live key. Only a test key can trigger events.\n');
});

test('a malformed amount, a refused amount and an unreachable service each end with one sentence', async () => {
  const cases: [string, Record<string, string>, number, RegExp][] = [
    ['1.234', {}, 2, /^--amount is dalasi with at most two decimals, such as 450\.50, not "1\.234"\.$/],
    ['0', {}, 2, /^--amount is dalasi/],
    ['99999999', {}, 1, /amount/],
    ['1', { DALASI_URL: await unusedUrl() }, 1, /^No server listens at http:\/\/127\.0\.0\.1:\d+\./],
    ['1', { DALASI_URL: receiver.url }, 1, /responded with 200, but not as this service does\. Check the address\.$/],
  ];
  for (const [amount, changes, expected, sentence] of cases) {
    const words = ['trigger', 'charge.succeeded', '--amount', amount];
    const { code, stderr, stdout } = await world.run(words, { ...settings(), ...changes });
    assert.equal(code, expected, stderr);
    assert.match(stderr.trim(), sentence);
    assert.equal(stdout, '');
  }
});
