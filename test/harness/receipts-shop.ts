import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { runCommand } from '../../server/src/operator/run-command.ts';
import { createApiClient, type ApiClient } from './api-client.ts';
import { eventually } from './eventually.ts';
import { openConsoleWorld, type ConsoleWorld } from './console-world.ts';
import type { DashboardWorld } from './dashboard-world.ts';
import { testKeys, type TestBusiness, type TestService } from './service.ts';
import { asOwner } from './tables.ts';

export interface OpenPayment {
  id: string;
  path: string;
}

/** A line of the shop's statement. */
type StatementRow = readonly [
  transactionId: string,
  at: Date,
  amount: string,
  type?: string,
  original?: string,
  balance?: string,
];

/** A business that takes real money by its own number at Wave, whose phone forwards messages. */
export class ReceiptsShop {
  readonly account = 'kairaba-wave';
  readonly deviceKey = 'device-key-of-the-shop-31f7';
  readonly operators: ConsoleWorld;
  /** With its people in the dashboard. */
  readonly world: DashboardWorld;
  readonly service: TestService;
  readonly business: TestBusiness;
  /** With the live key. */
  readonly api: ApiClient;
  readonly #folder = mkdtempSync(join(tmpdir(), 'dalasi-receipts-'));
  #payments = 0;
  #deliveries = 0;
  #statements = 0;

  private constructor(operators: ConsoleWorld) {
    const world = operators.dashboard;
    const { service, business } = world;
    this.operators = operators;
    this.world = world;
    this.service = service;
    this.business = business;
    this.api = createApiClient(service.url, business.live.key);
  }

  static async start(): Promise<ReceiptsShop> {
    const shop = new ReceiptsShop(await openConsoleWorld());
    await shop.operate(['businesses', 'approve', shop.business.live.merchant.businessId]);
    return shop;
  }

  async stop(): Promise<void> {
    await this.service.stop();
    rmSync(this.#folder, { recursive: true });
  }

  /** Connects its number, and waits until payers are offered it. */
  async connect(): Promise<void> {
    const { businessId } = this.business.live.merchant;
    const till = ['--till', '7001234', '--holder', 'Kairaba Books', '--device-key', this.deviceKey];
    await this.operate([
      ...['networks', 'add', 'receipts', '--name', this.account, '--network', 'wave', '--business', businessId],
      ...till,
    ]);
    await eventually('payers are offered the number', async () => {
      const { status } = await this.api.post('/v1/payments', { data: { amount: 1, network: 'wave' } });
      return status === 201;
    });
  }

  /** An operator's command beside the running service. */
  async operate(words: readonly string[], expectedCode = 0): Promise<string> {
    let text = '';
    const write = (written: string) => (text += written);
    const code = await runCommand(words, {
      environment: { ...testKeys, APP_ENV: 'development', APP_DATABASE_URL: this.service.database.appUrl },
      stdin: Readable.from([]),
      stdout: { write },
      stderr: { write },
    });
    assert.equal(code, expectedCode, text);
    return text;
  }

  /** A payment that waits for the payer to send the money. */
  async open(amount = 450): Promise<OpenPayment> {
    this.#payments += 1;
    const data = { amount, network: 'wave', account_number: String(7_010_000 + this.#payments) };
    const { status, text, body } = await this.api.post('/v1/payments', { data });
    assert.equal(status, 201, text);
    const id = String(body['payment_intent_id']);
    await eventually('the payer is asked to send', async () => (await this.payment(id))['next_action'] !== null);
    return { id, path: new URL(String(body['payment_link'])).pathname };
  }

  async payment(id: string): Promise<Record<string, unknown>> {
    return (await this.api.get(`/v1/payments/${id}`)).body;
  }

  async transaction(id: string): Promise<Record<string, unknown>> {
    return (await this.api.get(`/v1/transactions/${id}`)).body;
  }

  async timeline(id: string): Promise<string> {
    return (await this.api.get(`/v1/payments/${id}/timeline`)).text;
  }

  async untilStatus(id: string, status: string): Promise<void> {
    await eventually(`the payment is ${status}`, async () => (await this.payment(id))['status'] === status);
  }

  /** The payer types an id on the hosted page. */
  async type({ path }: OpenPayment, id: string): Promise<{ status: number; text: string }> {
    const response = await fetch(`${this.service.url}${path}/transaction-id`, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: this.service.url, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ transaction_id: id }),
    });
    return { status: response.status, text: await response.text() };
  }

  /** What SMS Gateway for Android sends for a message. */
  delivery(message: string, { sender = 'Wave', at = new Date() } = {}): string {
    this.#deliveries += 1;
    const payload = { messageId: 'a1', message, phoneNumber: sender, simNumber: 1, receivedAt: at.toISOString() };
    return JSON.stringify({
      deviceId: 'd',
      event: 'sms:received',
      id: `e${this.#deliveries}`,
      payload,
      webhookId: 'w',
    });
  }

  async forward(body: string, { key = this.deviceKey, at = new Date(), account = this.account } = {}): Promise<number> {
    const seconds = String(Math.floor(at.getTime() / 1_000));
    const signature = createHmac('sha256', key).update(body).update(seconds).digest('hex');
    return this.post(body, { 'x-signature': signature, 'x-timestamp': seconds }, account);
  }

  async post(body: string, headers: Record<string, string>, account = this.account): Promise<number> {
    const url = `${this.service.url}/networks/${account}/messages`;
    return (await fetch(url, { method: 'POST', headers, body })).status;
  }

  /** The phone forwards the network's message of this transaction. */
  async receive(transactionId: string, amount = '450.00'): Promise<void> {
    assert.equal(await this.forward(this.delivery(receiptText(transactionId, amount))), 200);
  }

  /** A payment that a receipt has paid. */
  async paidBy(transactionId: string): Promise<OpenPayment> {
    const payment = await this.open();
    await this.type(payment, transactionId);
    await this.receive(transactionId);
    await this.untilStatus(payment.id, 'successful');
    return payment;
  }

  receipts(): Promise<{ id: string; transaction_id: string }[]> {
    return asOwner(this.service, 'SELECT * FROM receipts ORDER BY id');
  }

  /** Imports lines of the shop's statement, and reconciles the day of the first one. */
  async reconcile(lines: readonly StatementRow[]): Promise<void> {
    this.#statements += 1;
    const file = join(this.#folder, `lines-${this.#statements}.csv`);
    const rows = lines.map(([id, at, amount, type = 'collection', original = '', balance = '']) =>
      [id, at.toISOString(), amount, type, original, balance].join(','),
    );
    const heading = 'transaction_id,timestamp,amount,type,original_transaction_id,balance';
    writeFileSync(file, [heading, ...rows].join('\n'));
    await this.operate(['reconcile', 'import', '--network', this.account, '--file', file]);
    await this.runDay(lines[0]?.[1] ?? new Date());
  }

  /** Runs a day whose lines are imported. */
  async runDay(day: Date): Promise<void> {
    await this.operate(['reconcile', 'run', '--network', this.account, '--day', day.toISOString().slice(0, 10)]);
  }
}

/** The network's message to the shop's phone. */
export function receiptText(transactionId: string, amount = '450.00'): string {
  return `You received D${amount} from Awa Ceesay (7001234). Transaction ID: ${transactionId}. New balance: D12,380.50.`;
}

/** Stores what a message of the network to a business's phone says, as if it had been forwarded. Returns the receipt's id. */
export async function storeReceipt(
  service: TestService,
  { merchantId, railAccount, amountMinor }: { merchantId: string; railAccount: string; amountMinor: bigint },
): Promise<string> {
  const id = randomUUID();
  const key = `T_${id.slice(0, 8).toUpperCase()}`;
  await asOwner(
    service,
    `INSERT INTO receipts (merchant_id, id, rail_account, network, transaction_id, transaction_key, amount, currency,
       payer_number, payer_name, status, dated_at, created_at, updated_at)
     VALUES ($1, $2, $3, 'wave', $4, $4, $5, 'GMD', '7001234', 'Awa Ceesay', 'unconfirmed', $6, $6, $6)`,
    [merchantId, id, railAccount, key, amountMinor, service.clock.now()],
  );
  return id;
}
