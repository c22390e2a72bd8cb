import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { existsSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { createApiClient } from '../harness/api-client.ts';
import { startCallbackReceiver } from '../harness/callback-receiver.ts';
import { runPrintedCurl } from '../harness/printed-curl.ts';
import type { DemoFacts } from '../../server/src/process/demo.ts';
import { ProcessWorld } from '../harness/process.ts';
import { readDemo, readyAt, type Program } from '../harness/program.ts';
import type { Settings } from '../harness/service-world.ts';
import { eventually } from '../harness/eventually.ts';

// On an idle machine a first start accepts its first payment after two seconds and a later start after one; the promise
// is ten and three. Other test files run beside this one, so these limits only catch a hang.
const firstStartMaxMs = 120_000;
const laterStartMaxMs = 120_000;

let world: ProcessWorld;

before(() => {
  world = new ProcessWorld();
});

after(() => world.close());

async function stop(service: Program): Promise<void> {
  service.stop();
  assert.deepEqual(await service.ended, { code: 0, signal: null }, service.stderr());
}

/** Creates a payment that its payer approves at once; returns its id once it is paid. */
async function takePayment(dataDirectory: string): Promise<string> {
  const { base_url: url, secret_key: key } = readDemo(dataDirectory);
  const api = createApiClient(url, key);
  const data = { amount: 450.5, network: 'wave', account_number: '7000001' };
  const { status, body, text } = await api.post('/v1/payments', { data });
  assert.equal(status, 201, text);
  const id = String(body['payment_intent_id']);
  await eventually('it is paid', async () => (await api.get(`/v1/payments/${id}`)).body['status'] === 'successful');
  return id;
}

interface Measured {
  service: Program;
  url: string;
  paymentId: string;
  elapsedMs: number;
}

async function startAndPay(
  t: TestContext,
  settings: { DATA_DIR: string } & Settings,
  start: (settings: Settings) => Program,
): Promise<Measured> {
  const startedMs = performance.now();
  const service = start(settings);
  const url = await readyAt(service);
  const readyMs = performance.now() - startedMs;
  const paymentId = await takePayment(settings.DATA_DIR);
  const elapsedMs = performance.now() - startedMs;
  t.diagnostic(`ready after ${Math.round(readyMs)} ms, first payment paid after ${Math.round(elapsedMs)} ms`);
  return { service, url, paymentId, elapsedMs };
}

test('the first start accepts a payment soon, prints what a newcomer needs; a later start is faster', async (t) => {
  const receiver = await startCallbackReceiver();
  const dataDirectory = world.newDataDirectory();
  const settings = { DATA_DIR: dataDirectory, DEMO_WEBHOOK_URL: `${receiver.url}/events`, LOG_LEVEL: 'info' };
  // As on a machine's first run: without a compile cache.
  const startFirst = (own: Settings) => world.startService({ ...own, NODE_DISABLE_COMPILE_CACHE: '1' });
  const { service, url, paymentId: id, elapsedMs } = await startAndPay(t, settings, startFirst);
  assert(elapsedMs < firstStartMaxMs);
  await service.printed(/then open the payment_link of the response\.\n$/);
  assert.match(url, /^http:\/\/localhost:\d+$/);

  const demo = readDemo(dataDirectory);
  const facts = ['base_url', 'dashboard', 'secret_key', 'webhook_endpoint_id', 'webhook_secret'];
  assert.deepEqual(Object.keys(demo).toSorted(), facts);
  assert.equal(demo.base_url, url);
  assert.match(demo.secret_key, /^sk_test_[0-9A-Za-z]{38}$/);
  assert.match(demo.webhook_secret, /^wh_/);
  assert(service.stdout().includes(demo.secret_key));
  assert(service.stdout().includes(`${url}/docs`));
  await assertDemoLogin(service, demo, url);
  for (const page of ['/docs', '/simulator/phone']) assert.equal((await fetch(url + page)).status, 200, page);
  for (const name of ['demo.json', 'secrets.json', 'postgres-password']) {
    assert.equal(statSync(join(dataDirectory, name)).mode & 0o777, 0o600, name);
  }
  const names = ['dalasi.lock', 'demo.json', 'postgres', 'postgres-password', 'postgres.log', 'secrets.json'];
  assert.deepEqual(readdirSync(dataDirectory).toSorted(), names, 'nothing else is left in the data directory');

  await eventually('its events arrive', () => receiver.received.length >= 2);
  for (const { path, headers, body } of receiver.received) {
    assert.equal(path, '/events');
    const signature = createHmac('sha512', demo.webhook_secret).update(body).digest('hex');
    assert.equal(headers['x-service-signature'], signature);
    const { data } = JSON.parse(body.toString());
    assert([data.payment_intent_id, data.id].includes(id));
  }
  const endpoint = await createApiClient(url, demo.secret_key).get(`/v1/webhook-endpoints/${demo.webhook_endpoint_id}`);
  assert.equal(endpoint.body['url'], `${receiver.url}/events`);
  await stop(service);
  await receiver.close();
  assert.equal(service.stdout().match(/migration/g)?.length, 1, 'one line for all migrations');
  assert.doesNotMatch(service.stdout(), /DEMO_WEBHOOK_URL/);
  assertLogIsWhole(service, url);

  // In this process: what one of its own costs, the first start has shown.
  const later = await startAndPay(t, { DATA_DIR: dataDirectory }, (own) => world.startServiceInProcess(own));
  assert(later.elapsedMs < laterStartMaxMs);
  await stop(later.service);
});

/** The printed login opens the dashboard, and its password stands in no log. */
async function assertDemoLogin(service: Program, { dashboard }: DemoFacts, url: string): Promise<void> {
  assert.ok(dashboard);
  assert.equal(dashboard.url, `${url}/dashboard`);
  assert(service.stdout().includes(`${dashboard.email}, password ${dashboard.password}`));
  assert(!service.stderr().includes(dashboard.password));
  const headers = { 'sec-fetch-site': 'same-origin' };
  const { email, password } = dashboard;
  const body = new URLSearchParams({ email, password });
  const signIn = await fetch(`${dashboard.url}/sign-in`, { method: 'POST', headers, body, redirect: 'manual' });
  assert.equal(signIn.headers.get('location'), '/dashboard/');
  const cookie = (signIn.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
  const home = await fetch(`${dashboard.url}/`, { headers: { cookie }, redirect: 'manual' });
  assert.match(home.headers.get('location') ?? '', /^\/dashboard\/test\/\w{8}$/);
}

/** Checks that standard error alone has every log line, as JSON, and no key. */
function assertLogIsWhole(service: Program, url: string): void {
  const lines = service
    .stderr()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const messages = lines.map((line) => String(line['msg']));
  assert.match(messages[0] ?? '', /^Applied \d+ migrations, 0001-first-payment to \d{4}-[\w-]+, in \d+ ms\.$/);
  for (const sentence of [
    `Dalasi is ready at ${url}`,
    'Stopping: finishing requests and tasks under way.',
    'Stopped.',
  ]) {
    assert(messages.includes(sentence), sentence);
  }
  assert.doesNotMatch(service.stderr(), /sk_test/);
}

test('a later start keeps the key, prints the new address, and prints a curl line that works', async () => {
  const dataDirectory = await world.usedDataDirectory();
  const before = readDemo(dataDirectory);
  const service = world.startServiceInProcess({ DATA_DIR: dataDirectory, DEMO_WEBHOOK_URL: 'http://localhost:9/late' });
  const url = await readyAt(service);
  await service.printed(new RegExp(`Test secret key +${before.secret_key}\\n`));
  const dashboard = before.dashboard && { ...before.dashboard, url: `${url}/dashboard` };
  assert.deepEqual(readDemo(dataDirectory), { ...before, base_url: url, dashboard });
  const endpoint = await createApiClient(url, before.secret_key).get(
    `/v1/webhook-endpoints/${before.webhook_endpoint_id}`,
  );
  assert.equal(endpoint.body['url'], null, 'DEMO_WEBHOOK_URL is for the first start');
  const instead = `PUT /v1/webhook-endpoints/${before.webhook_endpoint_id}`;
  assert(
    service
      .stdout()
      .includes(`DEMO_WEBHOOK_URL has no effect after the first start; set the address for events with ${instead}.`),
  );

  const { payment_link: link, amount } = await runPrintedCurl(world, service);
  assert.equal(amount, 100);
  assert(link.startsWith(`${url}/pay/`));
  const page = await fetch(link);
  assert.equal(page.status, 200);
  assert.match(await page.text(), /My first payment/);
  await stop(service);
});

test('a first start killed before it renamed its demo file keeps the demo merchant', async () => {
  const dataDirectory = await world.usedDataDirectory();
  const before = readDemo(dataDirectory);
  renameSync(join(dataDirectory, 'demo.json'), join(dataDirectory, 'demo.json.new'));
  const service = world.startServiceInProcess({ DATA_DIR: dataDirectory });
  const url = await readyAt(service);
  const dashboard = before.dashboard && { ...before.dashboard, url: `${url}/dashboard` };
  assert.deepEqual(readDemo(dataDirectory), { ...before, base_url: url, dashboard });
  assert(!existsSync(join(dataDirectory, 'demo.json.new')));
  await stop(service);
});

test('a key of another database is not printed', async () => {
  const dataDirectory = await world.usedDataDirectory();
  const stale = { ...readDemo(dataDirectory), secret_key: 'sk_test_00000000000000000000000000000000000000' };
  writeFileSync(join(dataDirectory, 'demo.json'), JSON.stringify(stale));
  const service = world.startServiceInProcess({ DATA_DIR: dataDirectory });
  await readyAt(service);
  await service.printed(/API reference/);
  await stop(service);
  assert.doesNotMatch(service.stdout(), /sk_test|curl/);
});
