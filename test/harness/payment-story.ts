import assert from 'node:assert/strict';
import { listCases } from '../../server/src/cases/list-cases.ts';
import { listEventsOfObjects } from '../../server/src/events/list-events.ts';
import { seededRandom } from '../../server/src/kit/random.ts';
import type { Account } from '../../server/src/ledger/accounts.ts';
import { readBalance } from '../../server/src/ledger/read-balance.corpus.ts';
import { verifyLedger } from '../../server/src/ledger/verify.ts';
import { callbackSigningSecret } from '../../simulator/credentials.ts';
import type { PhoneAction } from '../../simulator/transitions.ts';
import { signCallback } from '../../simulator/sign-callback.ts';
import { createSimulator, type Simulator } from '../../simulator/simulator.ts';
import { createNetworkWires } from '../../simulator/wires.ts';
import type { Command } from '../../server/src/operator/command.ts';
import { createApiClient, type ApiResponse, type ApiClient } from './api-client.ts';
import { eventually } from './eventually.ts';
import { ManualClock } from './manual-clock.ts';
import { operate } from './operate.ts';
import { startService, type TestMerchant, type TestService, type TestServiceOptions } from './service.ts';
import { asOwner, dropCallbacks, restoreCallbacks } from './tables.ts';

type Body = Record<string, unknown>;

const jsonContent = { 'content-type': 'application/json' };
const collectingAccounts: Readonly<Record<string, string>> = { aps: 'gsma-test', afrimoney: '54pay-test' };
const payoutAccounts: Readonly<Record<string, string>> = { aps: 'gsma-test' };

/** Columns of a simulated network's record of a collection. */
type SessionChanges = Partial<
  Record<'status' | 'failure_code' | 'amount_paid' | 'currency' | 'transaction_id', string | bigint>
>;

/** What is wrong with a forged callback. */
export interface Forgery {
  type?: string;
  /** The account in the URL. */
  to?: string;
  secret?: string;
  signedBy?: string;
  sentAt?: Date;
  signature?: string;
  body?: string;
}

export async function startPaymentStory(options: Omit<TestServiceOptions, 'clock'> = {}): Promise<PaymentStory> {
  const clock = new ManualClock();
  const service = await startService({ ...options, clock });
  const business = await service.onboard();
  return new PaymentStory(service, clock, business.test);
}

/** The whole service under a manual clock, with a merchant and the payer's simulated phone. */
export class PaymentStory {
  readonly service: TestService;
  readonly clock: ManualClock;
  readonly merchant: TestMerchant;
  readonly api: ApiClient;
  /** What acts on the simulated phone. */
  readonly phone: Simulator;

  constructor(service: TestService, clock: ManualClock, merchant: TestMerchant) {
    this.service = service;
    this.clock = clock;
    this.merchant = merchant;
    this.api = createApiClient(service.url, merchant.key);
    const { db, url } = service;
    const random = seededRandom('phone');
    const callbackSecret = service.secrets.simulatorCallbackSecret;
    const wires = createNetworkWires({ callbackSecret, publicUrl: () => url });
    this.phone = createSimulator({ db, clock, random, wires, notifySender: () => {} });
  }

  async onboard(): Promise<{ merchant: TestMerchant; api: ApiClient }> {
    const { test } = await this.service.onboard('Another Shop');
    return { merchant: test, api: createApiClient(this.service.url, test.key) };
  }

  stop(): Promise<void> {
    return this.service.stop();
  }

  /** A direct charge; returns the intent's id. */
  async pay(accountNumber: string, data: Body = {}, api = this.api): Promise<string> {
    const request = { amount: 450.5, network: 'aps', account_number: accountNumber, ...data };
    const created = await api.post('/v1/payments', { data: request });
    assert.equal(created.status, 201, created.text);
    assert.equal(created.body['status'], 'processing');
    return String(created.body['payment_intent_id']);
  }

  /** A direct charge, and everything that is due after it without moving the clock. */
  async paySettled(accountNumber: string, data: Body = {}): Promise<string> {
    const id = await this.pay(accountNumber, data);
    await this.settle();
    return id;
  }

  settle(): Promise<void> {
    return this.service.app.drain();
  }

  /** Moves the clock while no call is under way, and does what becomes due. */
  async advance(ms: number): Promise<void> {
    await this.settle();
    await this.clock.jump(ms);
    await this.settle();
  }

  /**
   * For a call that the network never responds to: waits until the network has it, then moves the clock past the
   * service's timeout.
   */
  async advancePastTimeout(id: string, ms: number): Promise<void> {
    await eventually('the network has the call', async () => (await this.#session(id)) !== undefined);
    const { reference } = await this.transaction(id);
    await this.clock.advance(ms);
    await eventually('the call has timed out', async () => {
      const text = 'SELECT progress FROM charges WHERE reference = $1';
      const rows = await asOwner<{ progress: string }>(this.service, text, [reference]);
      return rows[0]?.progress === 'unknown';
    });
  }

  async intent(id: string, api = this.api): Promise<Body> {
    return bodyOf(await api.get(`/v1/payments/${id}`));
  }

  /** By the charge's id, or the intent's for its newest charge. */
  async transaction(id: string, api = this.api): Promise<Body> {
    return bodyOf(await api.get(`/v1/transactions/${id}`));
  }

  /** The value of a gauge in /metrics; undefined where it is absent. */
  async gauge(series: string): Promise<number | undefined> {
    const { text } = await createApiClient(this.service.url, '').get('/metrics');
    const line = text.split('\n').find((one) => one.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length));
  }

  /** The output of an operator's command that needs only the database; `args` follow its name. */
  async operate(commands: readonly Command[], name: string, args: readonly string[] = []): Promise<string> {
    return (await operate(this.service, commands, name, args)).text;
  }

  async timeline(id: string): Promise<string[]> {
    const { data } = bodyOf(await this.api.get(`/v1/payments/${id}/timeline`));
    return (data as { kind: string }[]).map(({ kind }) => kind);
  }

  /** Posts a form of the hosted page as a browser does; returns the status. */
  async postForm(
    id: string,
    form: '' | '/code' | '/confirm' | '/cancel',
    fields: Record<string, string> = {},
  ): Promise<number> {
    const link = String((await this.intent(id))['payment_link']);
    const init = { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' } as const;
    return statusOf(await fetch(link + form, { ...init, headers: { origin: this.service.url } }));
  }

  /** The payer acts on the prompt of a charge on the simulated phone. */
  async onPhone(transactionId: string, action: PhoneAction, code?: string): Promise<void> {
    const session = await this.#session(transactionId);
    assert.ok(session, 'the network does not have this charge');
    const acted = await this.phone.act(session.id, action, code);
    assert.equal(acted?.done, true, `the phone does not offer ${action}`);
    await this.settle();
  }

  /** A charge's status at its network. */
  async networkStatus(transactionId: string): Promise<string | undefined> {
    return (await this.#session(transactionId))?.status;
  }

  async #session(transactionId: string): Promise<{ id: string; status: string; transactionId: string } | undefined> {
    const { reference } = await this.transaction(transactionId);
    const text = `SELECT id, status, transaction_id AS "transactionId" FROM simulator.sessions WHERE reference = $1`;
    const [session] = await asOwner<{ id: string; status: string; transactionId: string }>(this.service, text, [
      reference,
    ]);
    return session;
  }

  /** The networks' callbacks are lost until `restoreCallbacks`. */
  dropCallbacks(): Promise<void> {
    return dropCallbacks(this.service);
  }

  restoreCallbacks(): Promise<void> {
    return restoreCallbacks(this.service);
  }

  /**
   * A network without signatures changes its record of a charge, if `changes` says so, and calls back; returns the status of the
   * callback. It is a hint: what is reported is what a look-up then finds.
   */
  async report(transactionId: string, changes: SessionChanges = {}): Promise<number> {
    const { reference, payment_method: network } = await this.transaction(transactionId);
    await this.changeBooks('sessions', String(reference), changes);
    return this.sendHint(String(network), { reference: String(reference), operation: 'collection' });
  }

  /** Writes into the simulator's books what no scenario makes: a network that lies. */
  async changeBooks(
    table: 'sessions' | 'payouts',
    reference: string,
    changes: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const columns = Object.keys(changes);
    if (columns.length === 0) return;
    const assignments = columns.map((column, index) => `${column} = $${index + 2}`).join(', ');
    const text = `UPDATE simulator.${table} SET ${assignments} WHERE reference = $1`;
    await asOwner(this.service, text, [reference, ...Object.values(changes)]);
  }

  /** Sends the callback of a network that does not sign, about any reference; returns the status. */
  async sendHint(
    network: string,
    { reference, operation }: { reference: string; operation: 'collection' | 'payout' },
  ): Promise<number> {
    const query = new URLSearchParams({ reference, operation });
    const account = operation === 'collection' ? collectingAccounts[network] : payoutAccounts[network];
    const url = `${this.service.url}/networks/${account ?? network}/callbacks?${query.toString()}`;
    return statusOf(
      await fetch(url, { method: 'PUT', headers: jsonContent, body: '{"transactionStatus":"completed"}' }),
    );
  }

  /** Sends a webhook as Wave does, which signs it, or a forged one; returns the status. */
  async sendWebhook(data: unknown, forgery: Forgery = {}): Promise<number> {
    const body = JSON.stringify({ id: 'EV_test', type: forgery.type ?? 'checkout.session.completed', data });
    const { simulatorCallbackSecret } = this.service.secrets;
    const secret = forgery.secret ?? callbackSigningSecret(simulatorCallbackSecret, forgery.signedBy ?? 'wave');
    const signature = forgery.signature ?? signCallback(secret, { sentAt: forgery.sentAt ?? this.clock.now(), body });
    const headers = { ...jsonContent, 'wave-signature': signature };
    const init = { method: 'POST', headers, body: forgery.body ?? body };
    return statusOf(await fetch(`${this.service.url}/networks/${forgery.to ?? 'wave-test'}/callbacks`, init));
  }

  /** Wave's checkout session of a charge that was paid in full. */
  async checkoutOf(transactionId: string, changes: Body = {}): Promise<Body> {
    const { reference } = await this.transaction(transactionId);
    const session = await this.#session(transactionId);
    return {
      id: `cos-${session?.id ?? 'unknown'}`,
      ...{ amount: '450.50', currency: 'GMD', client_reference: reference, last_payment_error: null },
      ...{ checkout_status: 'complete', payment_status: 'succeeded', transaction_id: session?.transactionId ?? 'T0' },
      ...changes,
    };
  }

  /** The kinds of an object's events; fails unless their sequence numbers count up from 1. */
  async events(id: string, owner = this.merchant): Promise<string[]> {
    const events = await listEventsOfObjects(this.service.db, owner.merchant.id, [id]);
    const sequences = events.map(({ sequence }) => Number(sequence));
    assert.deepEqual(
      sequences,
      sequences.map((_sequence, index) => index + 1),
    );
    return events.map(({ kind }) => kind);
  }

  async cases(transactionId: string): Promise<string[]> {
    const all = await listCases(this.service.db, null, 1_000, null);
    return all.filter(({ subjectId }) => subjectId === transactionId).map(({ kind }) => kind);
  }

  /** The ledger's movements of a charge: `flow debit → credit amount`. */
  async movements(transactionId: string): Promise<string[]> {
    const text = `SELECT flow || ' ' || debit_account || ' → ' || credit_account || ' ' || amount AS text
                  FROM ledger_movements WHERE source_id = $1 ORDER BY id`;
    const rows = await asOwner<{ text: string }>(this.service, text, [transactionId]);
    return rows.map((row) => row.text);
  }

  balance(account: Account, owner = this.merchant): Promise<bigint> {
    return readBalance(this.service.db, { merchantId: owner.merchant.id, account, currency: 'GMD' });
  }

  async verify(): Promise<void> {
    assert.equal((await verifyLedger(this.service.db)).finding, null);
  }
}

function bodyOf(response: ApiResponse): Body {
  assert.equal(response.status, 200, response.text);
  return response.body;
}

async function statusOf(response: Response): Promise<number> {
  await response.arrayBuffer();
  return response.status;
}
