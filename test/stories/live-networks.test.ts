import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { GsmaProvider } from '../../server/src/networks/gsma/gsma-provider.corpus.ts';
import { runCommand } from '../../server/src/operator/run-command.ts';
import { createApiClient, type ApiClient } from '../harness/api-client.ts';
import { eventually } from '../harness/eventually.ts';
import { startService, testKeys, type TestBusiness, type TestService } from '../harness/service.ts';
import { dumpTables } from '../harness/tables.ts';

// Real money: accounts that an operator connects while the service runs, at a provider of the GSMA API.

const provider = new GsmaProvider();
const platformKey = 'platform-key-7f3a91';
const shoesKey = 'shoes-key-51c09e';
const wrongKey = 'wrong-key-d04b77';
const nextKey = 'next-key-8e2210';

let folder: string;
let config: string;
let baseUrl: string;
let service: TestService;
/** Uses the operator's account. */
let books: TestBusiness;
/** Has an account of its own. */
let shoes: TestBusiness;
/** Has an account whose credential is wrong. */
let broken: TestBusiness;

before(async () => {
  baseUrl = await provider.start();
  provider.keys.add(platformKey).add(shoesKey);
  folder = mkdtempSync(join(tmpdir(), 'dalasi-live-'));
  config = join(folder, 'aps.json');
  writeFileSync(config, JSON.stringify({ networks: [{ network: 'aps' }] }));
  service = await startService();
  books = await service.onboard('Kairaba Books');
  shoes = await service.onboard('Serekunda Shoes');
  broken = await service.onboard('Brikama Bakery');
});

after(async () => {
  await service.stop();
  provider.close();
  rmSync(folder, { recursive: true });
});

const outputs: string[] = [];

/** An operator's command beside the running service. */
async function operate(words: readonly string[], input = ''): Promise<{ code: number; text: string }> {
  let text = '';
  const write = (written: string) => (text += written);
  const code = await runCommand(words, {
    environment: { ...testKeys, APP_ENV: 'development', APP_DATABASE_URL: service.database.appUrl },
    stdin: Readable.from(input === '' ? [] : [input]),
    stdout: { write },
    stderr: { write },
  });
  outputs.push(text);
  return { code, text };
}

async function done(words: readonly string[], input?: string): Promise<string> {
  const { code, text } = await operate(words, input);
  assert.equal(code, 0, text);
  return text;
}

const liveOf = ({ live }: TestBusiness): ApiClient => createApiClient(service.url, live.key);

let numbers = 7_010_000;

async function pay(business: TestBusiness): Promise<{ status: number; text: string; id: string }> {
  numbers += 1;
  const data = { amount: 450, network: 'aps', account_number: String(numbers) };
  const { status, text, body } = await liveOf(business).post('/v1/payments', { data });
  return { status, text, id: String(body['payment_intent_id']) };
}

/** What the provider received for this request of ours. */
async function arrived(type: string, apiKey: string, count = 1) {
  const there = () => provider.transactions.filter((each) => each.type === type && each.apiKey === apiKey);
  await eventually(`the provider has ${count} of ${type}`, () => there().length >= count);
  const found = there()[count - 1];
  assert.ok(found);
  return found;
}

async function untilStatus(business: TestBusiness, path: string, status: string): Promise<void> {
  await eventually(`${path} is ${status}`, async () => (await liveOf(business).get(path)).body['status'] === status);
}

const metrics = async () => (await fetch(`${service.url}/metrics`)).text();

const untilConnected = (count: number) =>
  eventually(`${count} accounts are connected`, async () =>
    (await metrics()).includes(`dalasi_rail_accounts{state="on"} ${count}`),
  );

async function readyz(): Promise<string> {
  return (await fetch(`${service.url}/readyz`)).text();
}

test('with nothing connected a live payment is refused with the reason, and the rest works', async () => {
  const { status, text } = await pay(books);
  assert.equal(status, 400, text);
  assert.match(text, /"code":"network_not_available"/);
  assert.match(text, /No live network is connected to this server yet/);
  assert.equal((await liveOf(books).post('/v1/customers', { name: 'Awa' })).status, 201);
  assert.equal((await liveOf(books).get('/v1/balances')).status, 200);
});

test('a business that is not approved gets no live payment, and is told so', async () => {
  const add = ['networks', 'add', 'gsma', '--name', 'aps-main', '--environment', 'live', '--base-url', baseUrl];
  const both = join(folder, 'both.json');
  writeFileSync(both, JSON.stringify({ networks: [{ network: 'aps' }, { network: 'qmoney' }] }));
  const text = await done([...add, '--config', both, '--api-key', '-'], `${platformKey}\n`);
  assert.match(text, /aps-main is connected for every live business: aps, qmoney\./);
  assert.match(text, /\/networks\/aps-main\/callbacks/);
  await untilConnected(1);
  const refused = await pay(books);
  assert.equal(refused.status, 400);
  assert.match(refused.text, /not approved for live payments/);
  const approved = [books, shoes, broken].map(({ live }) => done(['businesses', 'approve', live.merchant.businessId]));
  for (const output of await Promise.all(approved)) assert.match(output, /can take real money/);
  assert.equal((await operate(['businesses', 'approve', books.live.merchant.businessId])).code, 2);
});

test('a live business collects, is called back, and pays out through the account of the operator', async () => {
  assert.match(await done(['networks', 'test', 'aps-main']), /accepts the credential/);
  const paid = await pay(books);
  assert.equal(paid.status, 201, paid.text);
  const collection = await arrived('merchantpay', platformKey);
  assert.match(collection.callbackUrl, new RegExp(`^${service.url}/networks/aps-main/callbacks\\?`));
  assert.equal(collection.body['amount'], '450.00');
  assert.equal(await provider.complete(collection), 200);
  await untilStatus(books, `/v1/payments/${paid.id}`, 'successful');

  const transfer = { amount: 100, currency: 'GMD', network: 'aps', account_number: '7019999', beneficiary_name: 'Awa' };
  const sent = await liveOf(books).post('/v1/transfers', transfer, { 'idempotency-key': 'first' });
  assert.equal(sent.status, 201, sent.text);
  await provider.complete(await arrived('disbursement', platformKey));
  await untilStatus(books, `/v1/transfers/${String(sent.body['id'])}`, 'completed');
  const { body } = await liveOf(books).get('/v1/balances');
  assert.equal(body['payout_balance'], 350);
});

test('a broken credential of one business stops neither another’s account nor the operator’s', async () => {
  const own = (name: string, { live }: TestBusiness, key: string) => {
    const file = join(folder, name);
    writeFileSync(file, `${key}\n`);
    const words = ['networks', 'add', 'gsma', '--name', name, '--business', live.merchant.businessId];
    return done([...words, '--base-url', baseUrl, '--config', config, '--api-key', `@${file}`]);
  };
  assert.match(await own('aps-shoes', shoes, shoesKey), /is connected for Serekunda Shoes \(live\)/);
  await own('aps-broken', broken, wrongKey);
  const checked = await operate(['networks', 'test', 'aps-broken']);
  assert.deepEqual([checked.code, /refuses the credential \(HTTP 401\)/.test(checked.text)], [1, true], checked.text);
  await untilConnected(3);

  const failing = await pay(broken);
  assert.equal(failing.status, 201, failing.text);
  await eventually('its attempt has failed', async () => {
    const { body } = await liveOf(broken).get(`/v1/transactions/${failing.id}`);
    return body['status'] === 'failed' && body['failure_code'] === 'network_unavailable';
  });
  for (const [business, key, count] of [
    [shoes, shoesKey, 1],
    [books, platformKey, 2],
  ] as const) {
    const { id } = await pay(business);
    await provider.complete(await arrived('merchantpay', key, count));
    await untilStatus(business, `/v1/payments/${id}`, 'successful');
  }
  assert.equal(provider.calls.has(wrongKey), true);
});

test('the operator’s account pays out nothing that a business has collected with its own', async () => {
  const transfer = { amount: 100, currency: 'GMD', account_number: '3019999', beneficiary_name: 'Awa' };
  const send = (network: string) =>
    liveOf(shoes).post('/v1/transfers', { ...transfer, network }, { 'idempotency-key': network });
  const { status, text } = await send('qmoney');
  assert.equal(status, 400, text);
  assert.match(text, /your own account at a network.*"code":"insufficient_balance"/);
  assert.equal((await liveOf(shoes).get('/v1/balances')).body['payout_balance'], 450);
  assert.equal((await send('aps')).status, 201, 'its own account pays it out');
  await provider.complete(await arrived('disbursement', shoesKey));
});

test('a payment that waits while its account is rotated and disabled is paid by its callback', async () => {
  const { id } = await pay(shoes);
  const waiting = await arrived('merchantpay', shoesKey, 2);
  provider.keys.add(nextKey);
  await done(['networks', 'rotate', 'aps-shoes', '--api-key', '-'], nextKey);
  provider.keys.delete(shoesKey);
  await done(['networks', 'disable', 'aps-shoes']);
  const isDisabled = async () => (await metrics()).includes('dalasi_rail_accounts{state="disabled"} 1');
  await eventually('the running process knows that it is disabled', isDisabled);
  assert.equal(await provider.complete(waiting), 200);
  await untilStatus(shoes, `/v1/payments/${id}`, 'successful');
  // The operator's account takes over what is new.
  const countOf = (key: string) => provider.transactions.filter(({ apiKey }) => apiKey === key).length;
  const before = countOf(platformKey);
  await pay(shoes);
  await eventually('the operator’s account takes what is new', () => countOf(platformKey) > before);
  assert.equal(countOf(nextKey), 0, 'no new request by the disabled account');
  await done(['networks', 'enable', 'aps-shoes']);
  await eventually('the new key is used', async () => {
    await pay(shoes);
    return countOf(nextKey) > 0;
  });
});

test('a wrong option is refused with its reason, and nothing is stored', async () => {
  const add = ['networks', 'add', 'gsma', '--config', config];
  const refusals: [words: string[], reason: RegExp][] = [
    [[...add, '--name', 'aps-main', '--base-url', baseUrl], /The name aps-main is used/],
    [[...add, '--name', 'aps-test', '--base-url', baseUrl], /belong to the simulated networks/],
    [[...add, '--name', 'Big Name', '--base-url', baseUrl], /small letters/],
    [[...add, '--name', 'far', '--base-url', 'https://api.network.example'], /loopback addresses only/],
    [[...add, '--name', 'far'], /--base-url/],
    [[...add, '--name', 'far', '--base-url', baseUrl, '--public-key', 'x'], /has no --public-key/],
    [[...add, '--name', 'far', '--base-url', baseUrl, '--business', books.live.merchant.id], /no such business/],
    [['networks', 'add', 'gsma', '--name', 'far', '--base-url', baseUrl], /Configuration is missing/],
    [['networks', 'add', 'fax', '--name', 'far', '--base-url', baseUrl], /one of wave, gsma, 54pay/],
    [['networks', 'rotate', 'aps-main'], /at least one value/],
    [['networks', 'test', 'nothing'], /no rail account nothing/],
  ];
  for (const [words, reason] of refusals) {
    const { code, text } = await operate(words);
    assert.equal(code, 2, text);
    assert.match(text, reason);
  }
  assert.doesNotMatch(await done(['networks', 'list']), /far/);
});

test('no secret stands in the log, in a response, in a command’s output or readable in the database', async () => {
  await done(['networks', 'list', '--json']);
  const tables = [...(await dumpTables(service))].map(([, rows]) => rows).join('\n');
  const figures = await metrics();
  assert.match(figures, /^dalasi_network_calls_total\{account="aps-main",call="collect",outcome="answered"\} \d+$/m);
  assert.match(await readyz(), /"aps:aps-main":"ok"/);
  const log = service.logLines.join('\n');
  const outputsOf = { log, output: outputs.join('\n'), tables, figures, ready: await readyz() };
  for (const [source, text] of Object.entries(outputsOf)) {
    for (const secret of [platformKey, shoesKey, wrongKey, nextKey]) {
      const written = [secret, Buffer.from(secret).toString('base64'), Buffer.from(secret).toString('hex')];
      assert.ok(!written.some((form) => text.includes(form)), `${source} has ${secret}`);
    }
  }
});
