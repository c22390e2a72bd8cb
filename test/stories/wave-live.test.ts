import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, afterEach, before, test } from 'node:test';
import { createRailAccountContext } from '../../server/src/app/contexts.ts';
import { approveLive } from '../../server/src/merchants/business-status.ts';
import { runCommand } from '../../server/src/operator/run-command.ts';
import { checkRailAccount, rotateRailAccount } from '../../server/src/rail-accounts/manage-accounts.ts';
import { accountCredential, requestSigningSecret } from '../../simulator/credentials.ts';
import { createApiClient } from '../harness/api-client.ts';
import { effort } from '../harness/effort.ts';
import { eventually } from '../harness/eventually.ts';
import { testKeys } from '../harness/service.ts';
import { startTransferStory, TransferStory } from '../harness/transfer-story.ts';

// A rail account for real money on the wire of the simulated Wave, which accepts nothing that Wave would refuse.

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const account = 'wave-main';
const oldSecret = 'webhook-secret-of-old';
const newSecret = 'webhook-secret-of-now';

const folder = mkdtempSync(join(tmpdir(), 'dalasi-wave-live-'));
let testStory: TransferStory;
/** The business's live merchant. */
let story: TransferStory;

before(async () => {
  testStory = await startTransferStory();
  const { service, clock, contract } = testStory;
  const { live } = await service.onboard('Serekunda Shoes');
  await service.db.withTransaction((tx) => approveLive(tx, { clock }, live.merchant.businessId));
  const holder = { network: 'wave', account: live.merchant.shortId };
  const { simulatorBearerSecret } = service.secrets;
  const configFile = join(folder, 'wave.json');
  writeFileSync(configFile, '{"restrictPayer":true}');
  const text = await operate([
    ...['networks', 'add', 'wave', '--name', account, '--environment', 'live', '--amounts', 'bututs'],
    ...['--base-url', `${service.url.replace('localhost', '127.0.0.1')}/simulator/networks/wave`],
    ...['--api-key', accountCredential(simulatorBearerSecret, holder)],
    ...['--signing-secret', requestSigningSecret(simulatorBearerSecret, holder)],
    ...['--webhook-secret', oldSecret, '--config', configFile],
  ]);
  assert.match(text, /wave-main is connected for every live business: wave\./);
  story = new TransferStory(service, clock, { merchant: live, contract });
  await story.advance(minuteMs);
});

afterEach(() => story.verify());

after(async () => {
  await testStory.stop();
  rmSync(folder, { recursive: true });
});

/** An operator's command beside the running service; returns what it prints. */
async function operate(words: readonly string[]): Promise<string> {
  let text = '';
  const write = (written: string) => (text += written);
  const code = await runCommand(words, {
    environment: { ...testKeys, APP_ENV: 'development', APP_DATABASE_URL: testStory.service.database.appUrl },
    ...{ stdin: Readable.from([]), stdout: { write }, stderr: { write } },
  });
  assert.equal(code, 0, text);
  return text;
}

const accounts = () => {
  const { db, clock, secrets } = testStory.service;
  return createRailAccountContext({
    config: { production: false },
    db,
    clock,
    secrets,
    notifier: { notify: () => {} },
  });
};
const wave = { network: 'wave' };
const collected = 'collected float:wave-main → payable_available 45050';

async function payment(id: string) {
  const { id: chargeId, status, late, review } = await story.transaction(id);
  return { status, late, review, movements: await story.movements(String(chargeId)) };
}

const paid = { status: 'completed', late: false, review: null, movements: [collected] };

test('an account connected by an operator collects and pays out over the wire of Wave', async () => {
  // A command has the system's clock, and Wave refuses a signature of another time.
  assert.equal((await checkRailAccount(accounts(), account)).works, true);
  assert.deepEqual(await payment(await story.paySettled('7000001', wave)), paid);
  const id = await story.transferSettled('7000001', wave);
  assert.equal(await story.statusOf(id), 'completed');
  assert.deepEqual(await story.movements(id), [
    'held payable_available → held 10000',
    'transfer held → float:wave-main 10000',
  ]);
});

test('without a webhook a look-up finds the payment; a payout without an answer is sent once', async () => {
  const id = await story.paySettled('7001234', wave);
  await story.onPhone(id, 'approve');
  assert.equal((await payment(id)).status, 'pending');
  for (let look = 0; look < 4; look += 1) await story.advance(15_000);
  assert.deepEqual(await payment(id), paid);
  const transfer = await story.transfer('7000005', wave);
  await story.advancePastTimeout(transfer, 20_000);
  await story.advance(2_000);
  assert.equal(await story.statusOf(transfer), 'completed');
  assert.equal((await story.payouts(transfer)).length, 1);
});

test('a webhook signed with the old secret pays once during a rotation, and is refused after it', async () => {
  const { db } = testStory.service;
  const waiting = [await story.paySettled('7001234', wave), await story.paySettled('7001235', wave)];
  const [first = '', second = ''] = waiting;
  const rotation = { baseUrl: null, fields: { 'webhook-secret': newSecret }, overlapMs: 5 * minuteMs };
  await db.withTransaction((tx) => rotateRailAccount(tx, accounts(), account, rotation));
  await story.advance(10_000);
  const send = async (id: string, secret: string) =>
    story.sendWebhook(await story.checkoutOf(id), { to: account, secret });
  assert.deepEqual([await send(first, oldSecret), await send(first, newSecret)], [200, 200], 'twice');
  await story.settle();
  assert.deepEqual(await payment(first), paid);
  assert.equal(await send(second, 'another secret'), 401);
  await story.advance(5 * minuteMs);
  assert.equal(await send(second, oldSecret), 401);
  assert.equal((await payment(second)).status, 'pending');
  assert.equal(await send(second, newSecret), 200);
  await story.settle();
  assert.deepEqual(await payment(second), paid);
});

test('a payment that Wave reports a day after it has expired is booked as late, once', async () => {
  const id = await story.paySettled('7001236', wave);
  for (let step = 0; step < 4; step += 1) await story.advance(10 * minuteMs);
  assert.equal((await story.intent(id))['status'], 'expired');
  await story.advance(dayMs);
  for (let copy = 0; copy < 2; copy += 1) {
    assert.equal(await story.sendWebhook(await story.checkoutOf(id), { to: account, secret: newSecret }), 200);
    await story.settle();
  }
  assert.deepEqual(await payment(id), { ...paid, late: true });
});

test('a webhook about another amount pays nothing: the money waits in suspense for a person', async () => {
  const id = await story.paySettled('7001237', wave);
  const session = await story.checkoutOf(id, { amount: '1.00' });
  assert.equal(await story.sendWebhook(session, { to: account, secret: newSecret }), 200);
  await story.settle();
  const { status, review, movements } = await payment(id);
  assert.deepEqual([status, review], ['pending', 'amount_mismatch']);
  assert.deepEqual(movements, ['suspense float:wave-main → suspense 100']);
});

test('a live sub-account is created where a live account pays out, also before its business is approved', async () => {
  const shoes = { name: 'Supplier', percentage: 10, account_number: '7001234' };
  const create = (code: string, api = story.api) => api.post('/v1/sub-accounts', { ...shoes, settlement_code: code });
  const created = await create('wave');
  assert.equal(created.status, 201, created.text);
  const refused = await create('aps');
  assert.deepEqual([refused.status, refused.body['code']], [400, 'network_not_available'], refused.text);
  const unapproved = (await testStory.service.onboard('Brikama Bakery')).live;
  const early = await create('wave', createApiClient(testStory.service.url, unapproved.key));
  assert.equal(early.status, 201, early.text);
});

test('a burst of callbacks is answered, loses nothing and pays each payment once', async (t) => {
  const count = effort({ usual: 300, long: 10_000 });
  const ids: string[] = [];
  for (let payer = 0; payer < 20; payer += 1) ids.push(await story.paySettled(String(7_001_300 + payer), wave));
  const sessions = await Promise.all(ids.map((id) => story.checkoutOf(id)));
  const startedAt = performance.now();
  const queue = Array.from({ length: count }, (_, index) => sessions[index % sessions.length]);
  const send = async (): Promise<void> => {
    for (let next = queue.pop(); next; next = queue.pop()) {
      assert.equal(await story.sendWebhook(next, { to: account, secret: newSecret }), 200);
    }
  };
  await Promise.all(Array.from({ length: 50 }, send));
  await story.settle();
  const seconds = (performance.now() - startedAt) / 1_000;
  for (const id of ids) assert.deepEqual(await payment(id), paid);
  const open = await testStory.service.db.rows({
    name: 'test_open_callbacks',
    text: 'SELECT id FROM network_inbox WHERE due_at IS NOT NULL',
    values: [],
  });
  assert.deepEqual(open, []);
  // Two busy cores take 900 a second.
  t.diagnostic(`${count} callbacks in ${seconds.toFixed(1)} s`);
  assert.ok(seconds < 60, `${count} callbacks took ${seconds.toFixed(1)} s`);
});

test('an account set to batches sends what became due during a call together; each ends for itself', async () => {
  await operate(['networks', 'rotate', account, '--payouts', 'batches']);
  await story.advance(minuteMs);
  const alone = await story.transfer('7000005', wave);
  await eventually('the call that gets no response', async () => (await story.payouts(alone)).length === 1);
  const ids: string[] = [];
  for (const number of ['7000001', '7000002', '7000009', '7000012']) ids.push(await story.transfer(number, wave));
  await story.advancePastTimeout(alone, 20_000);
  for (let step = 0; step < 4; step += 1) await story.advance(2_000);
  const statuses = await Promise.all([alone, ...ids].map((id) => story.statusOf(id)));
  assert.deepEqual(statuses, ['completed', 'completed', 'failed', 'completed', 'reversed']);
  for (const id of ids) assert.equal((await story.payouts(id)).length, 1);
  const batches = await testStory.service.db.rows<{ count: bigint }>({
    name: 'test_batches',
    text: 'SELECT payout_count AS count FROM simulator.payout_batches',
    values: [],
  });
  assert.deepEqual(batches, [{ count: 4n }]);
});
