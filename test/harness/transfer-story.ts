import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { verifyHolds } from '../../server/src/transfers/verify-holds.ts';
import type { ApiResponse, ApiClient } from './api-client.ts';
import type { CallbackReceiver } from './callback-receiver.ts';
import { eventually } from './eventually.ts';
import { ManualClock } from './manual-clock.ts';
import { createContractClient, loadContract, type Contract } from './openapi.ts';
import { PaymentStory } from './payment-story.ts';
import { startService, type TestMerchant, type TestService, type TestServiceOptions } from './service.ts';
import { asOwner } from './tables.ts';

type Body = Record<string, unknown>;

/** Columns of a simulated network's record of a payout. */
type PayoutChanges = Partial<
  Record<
    'status' | 'planned_status' | 'planned_at' | 'failure_code' | 'amount' | 'currency' | 'transaction_id',
    unknown
  >
>;

/** A transfer at the simulated network. */
export interface NetworkPayout {
  id: string;
  status: string;
  transactionId: string;
}

export async function startTransferStory(options: Omit<TestServiceOptions, 'clock'> = {}): Promise<TransferStory> {
  const clock = new ManualClock();
  const contract = await loadContract();
  const service = await startService({ ...options, clock });
  const { test } = await service.onboard();
  return new TransferStory(service, clock, { merchant: test, contract });
}

/** The whole service under a manual clock, with a merchant who pays out. Checks every response against the contract. */
export class TransferStory extends PaymentStory {
  readonly contract: Contract;
  override readonly api: ApiClient;

  constructor(service: TestService, clock: ManualClock, owner: { merchant: TestMerchant; contract: Contract }) {
    super(service, clock, owner.merchant);
    this.contract = owner.contract;
    this.api = createContractClient(owner.contract, service.url, owner.merchant.key);
  }

  /** The same service for another merchant with an untouched balance. */
  async forAnotherMerchant(): Promise<TransferStory> {
    const { test } = await this.service.onboard('Another Shop');
    return new TransferStory(this.service, this.clock, { merchant: test, contract: this.contract });
  }

  /** Requests a transfer of 100 dalasi to this number by APS, with a new key unless one is passed. */
  request(accountNumber: string, changes: Body = {}, key: string = randomUUID()): Promise<ApiResponse> {
    const body = { ...transferBody, account_number: accountNumber, ...changes };
    return this.api.post('/v1/transfers', body, { 'idempotency-key': key });
  }

  /** An accepted transfer; returns its id. */
  async transfer(accountNumber: string, changes: Body = {}): Promise<string> {
    const accepted = await this.request(accountNumber, changes);
    assert.equal(accepted.status, 201, accepted.text);
    assert.equal(accepted.body['status'], 'pending');
    return String(accepted.body['id']);
  }

  /** An accepted transfer, and everything that is due after it without moving the clock. */
  async transferSettled(accountNumber: string, changes: Body = {}): Promise<string> {
    const id = await this.transfer(accountNumber, changes);
    await this.settle();
    return id;
  }

  async retrieve(id: string): Promise<Body> {
    const response = await this.api.get(`/v1/transfers/${id}`);
    assert.equal(response.status, 200, response.text);
    return response.body;
  }

  async statusOf(id: string): Promise<unknown> {
    return (await this.retrieve(id))['status'];
  }

  override async timeline(id: string): Promise<string[]> {
    const response = await this.api.get(`/v1/transfers/${id}/timeline`);
    assert.equal(response.status, 200, response.text);
    return (response.body['data'] as { kind: string }[]).map(({ kind }) => kind);
  }

  /** The merchant's payout balance. */
  async payoutBalance(): Promise<number> {
    const response = await this.api.get('/v1/balances');
    assert.equal(response.status, 200, response.text);
    return Number(response.body['payout_balance']);
  }

  /** The payouts that the network has made of an order; more than one would have paid twice. */
  async payouts(id: string): Promise<NetworkPayout[]> {
    const { reference } = await this.retrieve(id);
    const text = `SELECT id, CASE WHEN planned_at <= $2 THEN planned_status ELSE status END AS status,
                    transaction_id AS "transactionId"
                  FROM simulator.payouts WHERE COALESCE(client_reference, reference) = $1`;
    return asOwner<NetworkPayout>(this.service, text, [reference, this.clock.now()]);
  }

  /** How many orders of this merchant the network has ever taken. */
  async payoutCount(): Promise<number> {
    const text = 'SELECT id FROM simulator.payouts WHERE account = $1';
    return (await asOwner(this.service, text, [this.merchant.merchant.shortId])).length;
  }

  /** Waits until an order's timeline tells this; the time stands still. */
  async untilTimelineHas(id: string, kind: string): Promise<void> {
    await eventually(`the timeline tells ${kind}`, async () => (await this.timeline(id)).includes(kind));
  }

  /**
   * For an order that the network takes without ever answering: waits until it has it, and lets the time pass that the
   * service waits for an answer.
   */
  override async advancePastTimeout(id: string, ms: number): Promise<void> {
    await eventually('the network has got the order', async () => (await this.payouts(id)).length === 1);
    await this.clock.advance(ms);
    await this.untilTimelineHas(id, 'no_clear_answer');
  }

  /**
   * The network changes its record of a transfer, if `changes` says so, and calls back; returns the status of the callback. It
   * is a hint: what is reported is what a look-up then finds.
   */
  async reportPayout(id: string, changes: PayoutChanges = {}): Promise<number> {
    const { network, reference } = await this.retrieve(id);
    await this.changeBooks('payouts', String(reference), changes);
    return this.sendHint(String(network), { reference: String(reference), operation: 'payout' });
  }

  /** Sends this merchant's events to a receiver; all kinds unless some are named. */
  async subscribe(receiver: CallbackReceiver, kinds: string[] | null): Promise<void> {
    const body = JSON.stringify({ url: `${receiver.url}/events`, enabled_events: kinds });
    const headers = { 'content-type': 'application/json' };
    const path = `/v1/webhook-endpoints/${this.merchant.endpointId}`;
    const response = await this.api.send('PUT', path, { body, headers });
    assert.equal(response.status, 200, response.text);
  }

  /** The ledger adds up, and money is held for open transfers and for nothing else. */
  override async verify(): Promise<void> {
    await super.verify();
    assert.equal(await verifyHolds(this.service.db), null);
  }
}

export const transferBody = { amount: 100, network: 'aps', account_number: '7000001', beneficiary_name: 'Awa Ceesay' };
