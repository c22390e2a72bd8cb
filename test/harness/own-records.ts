import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ApiClient } from './api-client.ts';
import type { OwnRecords } from './api-examples.ts';
import { eventually } from './eventually.ts';

/** What stands in the records. */
export interface RecordTexts {
  network: string;
  name: string;
  title: string;
  counter: string;
  group: string;
  url: string;
  /** Of the payment and the transfer. */
  amount: number;
  /** Of the paid payment, which a sub-account shares. */
  paidAmount: number;
}

const usualTexts: RecordTexts = {
  network: 'wave',
  name: 'Awa Ceesay',
  title: 'School fees',
  counter: 'Till 1',
  group: 'Rent',
  url: 'http://127.0.0.1:9/own',
  amount: 10,
  paidAmount: 200,
};

/**
 * Creates one record of every kind for the client's merchant. The payer of the payment never responds, the transfer
 * waits for an empty float, and the refund is of another payment. The service must run its workers.
 */
export async function createOwnRecords(api: ApiClient, changes: Partial<RecordTexts> = {}): Promise<OwnRecords> {
  const texts = { ...usualTexts, ...changes };
  const { network, name, amount } = texts;
  const intent = await api.post('/v1/payments', { data: { amount, network, account_number: '7000004' } });
  assert.equal(intent.status, 201, intent.text);
  const transfer = await api.post(
    '/v1/transfers',
    { amount, network, account_number: '7000010', beneficiary_name: name },
    { 'idempotency-key': randomUUID() },
  );
  assert.equal(transfer.status, 201, transfer.text);
  const customer = await api.post('/v1/customers', { name });
  assert.equal(customer.status, 201, customer.text);
  const newSubAccount = { name, percentage: 10, settlement_code: network, account_number: '7000001' };
  const subAccount = await api.post('/v1/sub-accounts', newSubAccount);
  assert.equal(subAccount.status, 201, subAccount.text);
  const unused = await api.post('/v1/sub-accounts', newSubAccount);
  assert.equal(unused.status, 201, unused.text);
  const share = { amount: texts.paidAmount, network, account_number: '7000001', sub_account: subAccount.body['id'] };
  const shared = await api.post('/v1/payments', { data: share });
  assert.equal(shared.status, 201, shared.text);
  const members = [{ sub_account: subAccount.body['id'], percentage: 10 }];
  const group = await api.post('/v1/sub-account-groups', { name: texts.group, members });
  assert.equal(group.status, 201, group.text);
  const endpoint = await api.post('/v1/webhook-endpoints', { url: texts.url });
  assert.equal(endpoint.status, 201, endpoint.text);
  const events = await api.get('/v1/events?event=payment_intent.created&limit=1');
  const [event] = events.body['data'] as Record<string, unknown>[];
  assert.ok(event, events.text);
  const charge = await api.get(`/v1/transactions/${String(intent.body['payment_intent_id'])}`);
  assert.equal(charge.status, 200, charge.text);
  const refunded = await refundPart(api, String(shared.body['payment_intent_id']));
  return {
    ...refunded,
    ...(await createLinkAndTerminal(api, texts)),
    intentId: String(intent.body['payment_intent_id']),
    intentSecret: String(intent.body['intent_secret']),
    chargeId: String(charge.body['id']),
    transferId: String(transfer.body['id']),
    customerId: String(customer.body['id']),
    subAccountId: String(subAccount.body['id']),
    unusedSubAccountId: String(unused.body['id']),
    subAccountGroupId: String(group.body['id']),
    endpointId: String(endpoint.body['id']),
    eventId: String(event['id']),
  };
}

/** Where the id of the record of a dashboard's section stands. */
export const idsBySection: Readonly<Record<string, keyof OwnRecords>> = {
  payments: 'intentId',
  refunds: 'refundId',
  transfers: 'transferId',
  customers: 'customerId',
  links: 'paymentLinkId',
  counters: 'terminalId',
  'sub-accounts': 'subAccountId',
  groups: 'subAccountGroupId',
  endpoints: 'endpointId',
  events: 'eventId',
};

async function createLinkAndTerminal(
  api: ApiClient,
  { title, counter }: RecordTexts,
): Promise<Pick<OwnRecords, 'paymentLinkId' | 'terminalId'>> {
  const link = await api.post('/v1/payment-links', { data: { title } });
  assert.equal(link.status, 201, link.text);
  const terminal = await api.post('/v1/virtual-terminals', { name: counter, chat_numbers: ['7012345'] });
  assert.equal(terminal.status, 201, terminal.text);
  return { paymentLinkId: String(link.body['id']), terminalId: String(terminal.body['id']) };
}

/** Refunds a part of a payment once it is paid, and waits until the payer has it. */
async function refundPart(api: ApiClient, intentId: string): Promise<Pick<OwnRecords, 'paidChargeId' | 'refundId'>> {
  const path = `/v1/transactions/${intentId}`;
  await eventually('the payment is paid', async () => (await api.get(path)).body['status'] === 'completed');
  const { body: charge } = await api.get(path);
  const refund = await api.post('/v1/transactions/refund', { reference: charge['reference'], amount: 1 });
  assert.equal(refund.status, 201, refund.text);
  const refundId = String(refund.body['id']);
  const isThere = async () => (await api.get(`/v1/refunds/${refundId}`)).body['status'] === 'completed';
  await eventually('the payer has the refund', isThere);
  return { paidChargeId: String(charge['id']), refundId };
}
