import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { runCommand } from '../../server/src/operator/run-command.ts';
import { createApiClient } from '../harness/api-client.ts';
import type { ApiClient } from '../harness/api-client.ts';
import { eventually } from '../harness/eventually.ts';
import { startService, testKeys } from '../harness/service.ts';
import type { TestBusiness, TestService } from '../harness/service.ts';
import { asOwner } from '../harness/tables.ts';

// A shop without any contract: its own number at a network, and its phone, which forwards the network's messages.

const deviceKey = 'device-key-of-the-shop-31f7';
const account = 'kairaba-wave';

let service: TestService;
let books: TestBusiness;
let shop: ApiClient;

before(async () => {
  service = await startService();
  books = await service.onboard('Kairaba Books');
  shop = createApiClient(service.url, books.live.key);
  await operate(['businesses', 'approve', books.live.merchant.businessId]);
});

after(() => service.stop());

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
  const cookie = page.headers.getSetCookie().map((each) => each.split(';')[0]).join('; ');
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
