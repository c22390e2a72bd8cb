import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { runCommand } from '../../server/src/operator/run-command.ts';
import { createApiClient } from '../harness/api-client.ts';
import type { ApiClient } from '../harness/api-client.ts';
import { eventually } from '../harness/eventually.ts';
import { addTestRailAccount } from '../harness/rail-accounts.ts';
import { startService, testKeys } from '../harness/service.ts';
import type { TestBusiness, TestService } from '../harness/service.ts';
import { asOwner } from '../harness/tables.ts';

// A shop without any contract: its own number at a network, and its phone, which forwards the network's messages.

const deviceKey = 'device-key-of-the-shop-31f7';
const account = 'kairaba-wave';

const folder = mkdtempSync(join(tmpdir(), 'dalasi-receipts-'));
let service: TestService;
let books: TestBusiness;
let shop: ApiClient;

before(async () => {
  service = await startService();
  books = await service.onboard('Kairaba Books');
  shop = createApiClient(service.url, books.live.key);
  await operate(['businesses', 'approve', books.live.merchant.businessId]);
});

after(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

/** An operator's command beside the running service. */
async function operate(words: readonly string[]): Promise<string> {
  let text = '';
  const write = (written: string) => (text += written);
  const code = await runCommand(words, {
    environment: { ...testKeys, APP_ENV: 'development', APP_DATABASE_URL: service.database.appUrl },
    stdin: Readable.from([]),
    stdout: { write },
    stderr: { write },
  });
  assert.equal(code, 0, text);
  return text;
}

interface Payment {
  id: string;
  path: string;
}

/** A payment that waits for the payer to send the money. */
async function open(amount = 450): Promise<Payment> {
  const data = { amount, network: 'wave', account_number: `70${String(10_000 + opened).padStart(5, '0')}` };
  opened += 1;
  const { status, text, body } = await shop.post('/v1/payments', { data });
  assert.equal(status, 201, text);
  const id = String(body['payment_intent_id']);
  await eventually('the payer is asked to send', async () => (await payment(id))['next_action'] !== null);
  return { id, path: new URL(String(body['payment_link'])).pathname };
}
let opened = 0;

const payment = async (id: string) => (await shop.get(`/v1/payments/${id}`)).body;
const transaction = async (id: string) => (await shop.get(`/v1/transactions/${id}`)).body;

const untilStatus = (id: string, status: string) =>
  eventually(`the payment is ${status}`, async () => (await payment(id))['status'] === status);

/** The payer types an id on the hosted page. */
async function type({ path }: Payment, id: string): Promise<{ status: number; text: string }> {
  const page = await fetch(`${service.url}${path}`);
  const cookie = page.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ');
  const proof = /name="(form_proof|proof|_proof|[a-z_]*proof[a-z_]*)" value="([^"]*)"/.exec(await page.text());
  const response = await fetch(`${service.url}${path}/transaction-id`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie, origin: service.url, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ transaction_id: id, ...(proof && { [proof[1] ?? '']: proof[2] ?? '' }) }),
  });
  return { status: response.status, text: await response.text() };
}

const receiptText = (transactionId: string, amount = '450.00') =>
  `You received D${amount} from Awa Ceesay (7001234). Transaction ID: ${transactionId}. New balance: D12,380.50.`;

let deliveries = 0;

/** What SMS Gateway for Android sends for a message. */
function delivery(text: string, { sender = 'Wave', at = new Date() } = {}): string {
  deliveries += 1;
  const payload = { messageId: 'a1', message: text, phoneNumber: sender, simNumber: 1, receivedAt: at.toISOString() };
  return JSON.stringify({ deviceId: 'd', event: 'sms:received', id: `e${deliveries}`, payload, webhookId: 'w' });
}

async function forward(body: string, { key = deviceKey, at = new Date() } = {}): Promise<number> {
  const seconds = String(Math.floor(at.getTime() / 1_000));
  const signature = createHmac('sha256', key).update(body).update(seconds).digest('hex');
  const headers = { 'content-type': 'application/json', 'x-signature': signature, 'x-timestamp': seconds };
  return (await fetch(`${service.url}/networks/${account}/messages`, { method: 'POST', headers, body })).status;
}

const receipts = () => asOwner<{ id: string; charge_id: string | null }>(service, 'SELECT * FROM receipts ORDER BY id');

test('an operator connects a shop’s number without any address, for a business only', async () => {
  const add = ['networks', 'add', 'receipts', '--name', account, '--network', 'wave', '--till', '7001234'];
  const own = ['--business', books.live.merchant.businessId, '--holder', 'Kairaba Books', '--device-key', deviceKey];
  const text = await operate([...add, ...own]);
  assert.match(text, /kairaba-wave is connected for Kairaba Books \(live\): wave\./);
  assert.match(text, /Messages URL {2}.*\/networks\/kairaba-wave\/messages/);
  assert.match(await operate(['networks', 'test', account]), /waits for messages/);
  await eventually('the account is connected', async () =>
    (await (await fetch(`${service.url}/metrics`)).text()).includes('dalasi_rail_accounts{state="on"} 1'),
  );
});

test('a payment is paid by the typed id and the shop’s own message, and is in no balance', async () => {
  const first = await open();
  const { next_action: action, status } = await payment(first.id);
  const expected = { type: 'send_and_enter_id', to_number: '7001234', to_name: 'Kairaba Books', amount: 450 };
  assert.deepEqual([status, action], ['processing', expected]);
  const typed = await type(first, ' t_qk7h 2m4p ');
  assert.equal(typed.status, 303, typed.text);
  assert.equal((await payment(first.id))['status'], 'processing', 'a claim alone pays nothing');
  assert.equal(await forward(delivery(receiptText('T_QK7H2M4P'))), 200);
  await untilStatus(first.id, 'successful');
  const charge = await transaction(first.id);
  assert.equal(charge['status'], 'completed');
  const { body: balances } = await shop.get('/v1/balances');
  assert.deepEqual([balances['payout_balance'], balances['available_balance']], [0, 0]);
  assert.match(await operate(['ledger', 'verify']), /movements/);
});

const messages = async () => {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  return (outcome: string) => Number(new RegExp(`messages_total\\{outcome="${outcome}"\\} (\\d+)`).exec(text)?.[1]);
};

test('a forged, unsigned or old message is refused with 401, and nothing of it is stored', async () => {
  const before = await receipts();
  const body = delivery(receiptText('T_FORGED01'));
  const unsigned = await fetch(`${service.url}/networks/${account}/messages`, { method: 'POST', body });
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
  const statuses = [
    await forward(body, { key: 'another key of the same length' }),
    await forward(body, { at: hoursAgo(80) }),
    await forward(delivery(receiptText('T_FORGED01'), { at: hoursAgo(80) })),
    await forward(body, { at: hoursAgo(-1) }),
    unsigned.status,
  ];
  assert.deepEqual(statuses, [401, 401, 401, 401, 401]);
  const none = await fetch(`${service.url}/networks/nobody/messages`, { method: 'POST', body });
  assert.equal(none.status, 404);
  assert.deepEqual(await receipts(), before);
  assert.equal(await forward('{'), 401, 'signed, but no message');
});

test('a replayed message pays nothing again, and one of another sender is dropped and counted', async () => {
  const count = await messages();
  const stored = (await receipts()).length;
  assert.equal(await forward(delivery(receiptText('T_QK7H2M4P'))), 200);
  assert.equal(await forward(delivery(receiptText('T_QK7H2M4P', '900.00'))), 200);
  assert.equal(await forward(delivery(receiptText('T_STRANGER'), { sender: '+2207009999' })), 200);
  assert.equal(await forward(JSON.stringify({ event: 'system:ping', payload: {} })), 200);
  const now = await messages();
  const more = (outcome: string) => now(outcome) - count(outcome);
  assert.deepEqual(
    [more('repeated'), more('conflict'), more('unreadable'), more('ignored'), more('stored')],
    [1, 1, 1, 1, 0],
  );
  assert.equal((await receipts()).length, stored);
  assert.equal(
    service.logLines.some((line) => /T_STRANGER|You received/.test(line)),
    false,
    'no text is logged',
  );
});

test('httpSMS forwards by a signed token, of no other algorithm', async () => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const token = (key: string, alg = 'HS256') => {
    const signed = `${part({ alg, typ: 'JWT' })}.${part({ iss: 'api.httpsms.com', iat: Math.floor(Date.now() / 1_000) })}`;
    return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
  };
  const send = async (authorization: string, transactionId: string) => {
    const data = {
      contact: 'Wave',
      content: receiptText(transactionId),
      owner: '+2207001234',
      timestamp: new Date().toISOString(),
    };
    const body = JSON.stringify({ specversion: '1.0', id: 'x', type: 'message.phone.received', data });
    return (
      await fetch(`${service.url}/networks/${account}/messages`, { method: 'POST', headers: { authorization }, body })
    ).status;
  };
  assert.equal(await send(`Bearer ${token('a wrong key of the attacker')}`, 'T_HTTPSMS0'), 401);
  assert.equal(await send(`Bearer ${token(deviceKey, 'none')}`, 'T_HTTPSMS0'), 401);
  const early = await open();
  assert.equal(await send(`Bearer ${token(deviceKey)}`, 'T_HTTPSMS1'), 200, 'the message comes before the id');
  assert.equal((await payment(early.id))['status'], 'processing', 'number and amount alone pay nothing');
  await type(early, 'T_HTTPSMS1');
  await untilStatus(early.id, 'successful');
});

test('an id pays once: used for another payment it is refused and noted', async () => {
  const second = await open();
  const { status, text } = await type(second, 'T_QK7H2M4P');
  assert.equal(status, 400);
  assert.match(text, /4 tries left|starting/i);
  assert.equal((await payment(second.id))['status'], 'processing');
  const { body } = await shop.get(`/v1/payments/${second.id}/timeline`);
  assert.match(JSON.stringify(body), /transaction_id_refused.*It has paid another payment/);
});

test('another amount and an older message pay nothing', async () => {
  const other = await open();
  await forward(delivery(receiptText('T_OTHERAMT', '400.00')));
  assert.equal((await type(other, 'T_OTHERAMT')).status, 400);
  await forward(delivery(receiptText('T_OLDER001'), { at: new Date(Date.now() - 5 * 60_000) }));
  assert.equal((await type(other, 'T_OLDER001')).status, 400);
  await type(other, 'T_LATER001');
  await forward(delivery(receiptText('T_LATER001', '449.00')));
  await eventually('the amount is compared when the message comes', async () =>
    JSON.stringify((await shop.get(`/v1/payments/${other.id}/timeline`)).body).includes('another amount'),
  );
  assert.equal((await payment(other.id))['status'], 'processing');
});

test('five wrong ids close the form, and text that is no id uses no try', async () => {
  const closed = await open();
  assert.equal((await type(closed, 'I paid!')).status, 400);
  for (const id of ['T_WRONG001', 'T_WRONG002', 'T_WRONG003', 'T_WRONG004', 'T_WRONG005', 'T_WRONG006'])
    await type(closed, id);
  await forward(delivery(receiptText('T_RIGHT001')));
  const refused = await type(closed, 'T_RIGHT001');
  assert.equal(refused.status, 303, 'the page of the closed form');
  assert.equal((await payment(closed.id))['status'], 'processing');
});

test('an id typed for two payments pays neither, and opens a case', async () => {
  const [one, two] = [await open(), await open()];
  await type(one, 'T_TWOTIMES');
  await type(two, 'T_TWOTIMES');
  await forward(delivery(receiptText('T_TWOTIMES')));
  await service.app.drain();
  assert.match(await operate(['cases', 'list']), /receipt_contested/);
  const statuses = [(await payment(one.id))['status'], (await payment(two.id))['status']];
  assert.deepEqual(statuses, ['processing', 'processing']);
});

test('a refund asks whether the money was returned, moves no balance, and is noted once', async () => {
  const paid = await open();
  await type(paid, 'T_REFUND01');
  await forward(delivery(receiptText('T_REFUND01')));
  await untilStatus(paid.id, 'successful');
  const { id: reference } = await transaction(paid.id);
  const refused = await shop.post('/v1/transactions/refund', { reference, amount: 50 });
  assert.equal(refused.status, 400, refused.text);
  assert.match(refused.text, /refund_not_possible.*money_returned/);
  const { status, text, body } = await shop.post('/v1/transactions/refund', {
    reference,
    amount: 50,
    money_returned: true,
  });
  assert.equal(status, 201, text);
  assert.deepEqual([body['status'], body['route'], body['amount']], ['completed', 'record', 50]);
  assert.equal((await transaction(paid.id))['amount_refunded'], 50);
  const rest = await shop.post('/v1/transactions/refund', { reference, money_returned: true });
  assert.deepEqual([rest.status, rest.body['amount']], [201, 400]);
  assert.equal((await transaction(paid.id))['status'], 'refunded');
  assert.equal((await shop.get('/v1/balances')).body['payout_balance'], 0);
  const [till] = await asOwner<{ sum: string }>(
    service,
    `SELECT sum(CASE WHEN debit_account = 'till:${account}' THEN amount ELSE -amount END) FROM ledger_movements
     WHERE 'till:${account}' IN (debit_account, credit_account) AND source_id = $1`,
    [reference],
  );
  assert.equal(till?.sum, '0');
  assert.match(await operate(['ledger', 'verify']), /movements/);
});

/** Imports lines of the shop's statement, and reconciles the day of the first one. */
async function statement(
  lines: readonly (readonly [transactionId: string, at: Date, amount: string, type?: string, original?: string])[],
) {
  statements += 1;
  const file = join(folder, `lines-${statements}.csv`);
  const rows = lines.map(
    ([id, at, amount, type = 'collection', original = '']) => `${id},${at.toISOString()},${amount},${type},${original}`,
  );
  writeFileSync(file, ['transaction_id,timestamp,amount,type,original_transaction_id', ...rows].join('\n'));
  await operate(['reconcile', 'import', '--network', account, '--file', file]);
  const day = lines[0]?.[1].toISOString().slice(0, 10) ?? '';
  return operate(['reconcile', 'run', '--network', account, '--day', day]);
}
let statements = 0;

test('above the shop’s limit a payment waits for a statement line, longer than it would live', async () => {
  await asOwner(service, 'UPDATE merchants SET receipt_confirm_above = 100000 WHERE id = $1', [books.live.merchant.id]);
  const large = await open(1_500);
  await type(large, 'T_LARGE001');
  await forward(delivery(receiptText('T_LARGE001', '1,500.00')));
  await service.app.drain();
  const { status, expires_at: expiresAt } = await payment(large.id);
  assert.equal(status, 'processing');
  assert.ok(Date.parse(String(expiresAt)) > Date.now() + 6 * 86_400_000);
  await statement([['T_LARGE001', new Date(), '1500.00']]);
  await untilStatus(large.id, 'successful');
});

test('a statement line without a message pays what waits for its id', async () => {
  const waiting = await open();
  await type(waiting, 'T_NOPHONE1');
  await statement([['T_NOPHONE1', new Date(), '450.00']]);
  await untilStatus(waiting.id, 'successful');
});

test('a statement that contradicts a message takes the charge back, with a case and no debt', async () => {
  const paidBy = async (id: string) => {
    const paid = await open();
    await type(paid, id);
    await forward(delivery(receiptText(id)));
    await untilStatus(paid.id, 'successful');
    return paid.id;
  };
  const [absent, changed, taken] = [
    await paidBy('T_ABSENT01'),
    await paidBy('T_AMOUNT01'),
    await paidBy('T_REVERSED1'),
  ];
  const now = new Date();
  await statement([
    ['T_AMOUNT01', now, '45.00'],
    ['T_REVERSED1', now, '450.00'],
    ['T_BACK0001', now, '-450.00', 'reversal', 'T_REVERSED1'],
  ]);
  assert.equal((await transaction(absent))['status'], 'completed', 'the day has not ended');
  const daysAgo = (days: number) =>
    new Date(`${new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)}T12:00:00Z`);
  await asOwner(service, `UPDATE receipts SET dated_at = $1 WHERE transaction_id = 'T_ABSENT01'`, [daysAgo(3)]);
  await statement([
    ['T_ELSEWHERE', daysAgo(3), '10.00'],
    ['T_ELSEWHER2', daysAgo(2), '10.00'],
  ]);
  for (const id of [absent, changed, taken]) {
    assert.equal((await transaction(id))['status'], 'reversed', id);
  }
  assert.match(await operate(['cases', 'list']), /network_reversal/);
  const { body } = await shop.get('/v1/balances');
  assert.deepEqual([body['payout_balance'], body['owed_balance'] ?? 0], [0, 0]);
  assert.match(await operate(['ledger', 'verify']), /movements/);
});

test('a message that comes after the payment has expired pays it late', async () => {
  const late = await open();
  await type(late, 'T_TOOLATE1');
  await asOwner(service, 'UPDATE payment_intents SET expires_at = $2 WHERE id = $1', [
    late.id,
    new Date(Date.now() - 1_000),
  ]);
  await untilStatus(late.id, 'expired');
  await forward(delivery(receiptText('T_TOOLATE1')));
  await untilStatus(late.id, 'successful');
  assert.equal((await transaction(late.id))['late'], true);
});

test('a payment with a share or a fee is refused where the money goes straight to the shop', async () => {
  await addTestRailAccount(service, 'aps-main');
  await eventually('the shop can pay out', async () => {
    const sub = { name: 'Binta', percentage: 10, settlement_code: 'aps', account_number: '7005555' };
    const { status, body } = await shop.post('/v1/sub-accounts', sub);
    if (status === 201) subAccount = String(body['id']);
    return status === 201;
  });
  const data = { amount: 450, network: 'wave', sub_account: subAccount };
  const { status, text } = await shop.post('/v1/payments', { data });
  assert.equal(status, 400, text);
  assert.match(text, /network_not_available/);
  await operate(['fees', 'set', '--merchant', books.live.merchant.id, '--for', 'collection', '--percent', '1']);
  await eventually(
    'the fee applies',
    async () => (await shop.post('/v1/payments', { data: { amount: 450, network: 'wave' } })).status === 400,
  );
  await operate(['fees', 'clear', '--merchant', books.live.merchant.id, '--for', 'collection']);
});
let subAccount = '';

test('an API serves the network before receipts, unless the operator orders otherwise', async () => {
  const fields = { config: JSON.stringify({ networks: [{ network: 'wave' }] }), 'api-key': 'a key of the tests' };
  await addTestRailAccount(service, 'wave-api', { fields });
  let number = 7_120_000;
  const accountOf = async () => {
    number += 1;
    const data = { amount: 450, network: 'wave', account_number: String(number) };
    const { body } = await shop.post('/v1/payments', { data });
    const query = 'SELECT rail_account FROM charges WHERE intent_id = $1';
    const [row] = await asOwner<{ rail_account: string }>(service, query, [body['payment_intent_id']]);
    return row?.rail_account;
  };
  await eventually('the API collects', async () => (await accountOf()) === 'wave-api');
  await operate(['networks', 'order', account, '--order', '1']);
  await eventually('the shop’s own number collects', async () => (await accountOf()) === account);
});
