import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ApiClient, ApiResponse } from './api-client.ts';
import type { Operation } from './openapi.ts';

/** One merchant's own records, for the requests of a test. */
export interface OwnRecords {
  /** An open payment intent. */
  intentId: string;
  intentSecret: string;
  chargeId: string;
  /** A paid charge, partly refunded. */
  paidChargeId: string;
  refundId: string;
  /** A transfer that waits for its network and can be cancelled. */
  transferId: string;
  /** A customer without payments. */
  customerId: string;
  /** A sub-account in the group; it has money once its payment is booked. */
  subAccountId: string;
  /** A sub-account that nothing uses. */
  unusedSubAccountId: string;
  subAccountGroupId: string;
  paymentLinkId: string;
  /** A virtual terminal without payments. */
  terminalId: string;
  /** A webhook endpoint that is not the default one. */
  endpointId: string;
  /** An event that the endpoint subscribes to. */
  eventId: string;
}

export interface Example {
  /** The record that the request names, in its address or in its body; null where it names none. */
  names: keyof OwnRecords | null;
  /** Another record that the body refers to. A foreign one is refused with 400. */
  refersTo?: keyof OwnRecords;
  /** A valid body. */
  body?: (own: OwnRecords) => object;
  query?: (own: OwnRecords) => string;
  /** The request is refused without an `Idempotency-Key`. */
  needsKey?: true;
}

const transferBody = { amount: 10, network: 'wave', account_number: '7000010', beneficiary_name: 'Awa Ceesay' };

const subAccountBody = { name: 'Awa Ceesay', percentage: 12.5, settlement_code: 'wave', account_number: '7000001' };

/** The headers of an example, with a new Idempotency-Key where it needs one. */
export function exampleHeaders({ body, needsKey }: Example): Record<string, string> {
  return {
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(needsKey ? { 'idempotency-key': randomUUID() } : {}),
  };
}

/** One request for each operation of the API, by its operation id. A new route needs its row. */
export const examples: Readonly<Record<string, Example>> = {
  createPayment: { names: null, body: () => ({ data: { amount: 10 } }) },
  previewPayment: { names: null, body: () => ({ data: { amount: 10 } }) },
  verifyPayment: { names: 'intentSecret', body: ({ intentSecret }) => ({ intent_secret: intentSecret }) },
  verifyPaymentByQuery: { names: 'intentSecret', query: ({ intentSecret }) => `?intent_secret=${intentSecret}` },
  listPayments: { names: null },
  retrievePayment: { names: 'intentId' },
  cancelPayment: { names: 'intentId' },
  cancelPaymentByPatch: { names: 'intentId' },
  retrievePaymentTimeline: { names: 'intentId' },
  listTransactions: { names: null },
  retrieveTransaction: { names: 'chargeId' },
  createRefund: {
    names: null,
    refersTo: 'paidChargeId',
    body: ({ paidChargeId }) => ({ reference: paidChargeId, amount: 0.01 }),
  },
  listRefunds: { names: null },
  retrieveRefund: { names: 'refundId' },
  createTransfer: { names: null, needsKey: true, body: () => transferBody },
  listTransfers: { names: null },
  quoteTransferFee: { names: null, body: () => ({ amount: 10, network: 'wave' }) },
  retrieveTransfer: { names: 'transferId' },
  cancelTransfer: { names: 'transferId' },
  retrieveTransferTimeline: { names: 'transferId' },
  retrieveBalances: { names: null },
  createCustomer: { names: null, body: () => ({ name: 'Awa Ceesay', phone: '7012345' }) },
  listCustomers: { names: null },
  retrieveCustomer: { names: 'customerId' },
  updateCustomer: { names: 'customerId', body: () => ({ email: 'awa@shop.example' }) },
  deleteCustomer: { names: 'customerId' },
  createSubAccount: { names: null, body: () => subAccountBody },
  listSubAccounts: { names: null },
  retrieveSubAccount: { names: 'subAccountId' },
  updateSubAccount: { names: 'subAccountId', body: () => ({ percentage: 15 }) },
  createSubAccountPayout: { names: 'subAccountId', needsKey: true, body: () => ({ amount: 10 }) },
  retrieveSubAccountStatement: { names: 'subAccountId' },
  deleteSubAccount: { names: 'unusedSubAccountId' },
  waiveSubAccountDebt: { names: 'subAccountId', needsKey: true, body: () => ({ amount: 10 }) },
  listReconciliation: { names: null, query: () => '?day=2026-11-20' },
  listReconciliationDifferences: { names: null, query: () => '?state=open' },
  listBalanceMovements: { names: null, query: () => '?account=payout_balance' },
  createSubAccountGroup: {
    names: null,
    refersTo: 'subAccountId',
    body: ({ subAccountId }) => ({ name: 'Rent', members: [{ sub_account: subAccountId, percentage: 10 }] }),
  },
  listSubAccountGroups: { names: null },
  retrieveSubAccountGroup: { names: 'subAccountGroupId' },
  updateSubAccountGroup: { names: 'subAccountGroupId', body: () => ({ name: 'Changed' }) },
  deleteSubAccountGroup: { names: 'subAccountGroupId' },
  createPaymentLink: { names: null, body: () => ({ data: { title: 'School fees', min_amount: 100 } }) },
  listPaymentLinks: { names: null },
  retrievePaymentLink: { names: 'paymentLinkId' },
  updatePaymentLink: { names: 'paymentLinkId', body: () => ({ title: 'Changed' }) },
  deletePaymentLink: { names: 'paymentLinkId' },
  retrieveSinglePaymentLink: { names: 'paymentLinkId' },
  updateSinglePaymentLink: { names: 'paymentLinkId', body: () => ({ status: 'inactive' }) },
  deleteSinglePaymentLink: { names: 'paymentLinkId' },
  createVirtualTerminal: { names: null, body: () => ({ name: 'Till 1', chat_numbers: ['7012345'] }) },
  listVirtualTerminals: { names: null },
  retrieveVirtualTerminal: { names: 'terminalId' },
  updateVirtualTerminal: { names: 'terminalId', body: () => ({ name: 'Till 2' }) },
  downloadVirtualTerminalPoster: { names: 'terminalId' },
  deleteVirtualTerminal: { names: 'terminalId' },
  summariseVirtualTerminal: { names: 'terminalId' },
  // An address with a closed port: no DNS look-up.
  createWebhookEndpoint: { names: null, body: () => ({ url: 'http://127.0.0.1:9/events' }) },
  listWebhookEndpoints: { names: null },
  retrieveWebhookEndpoint: { names: 'endpointId' },
  updateWebhookEndpoint: { names: 'endpointId', body: () => ({ description: 'Changed' }) },
  deleteWebhookEndpoint: { names: 'endpointId' },
  rotateWebhookSecret: { names: 'endpointId', body: () => ({ overlap_hours: 1 }) },
  endWebhookSecretOverlap: { names: 'endpointId' },
  testWebhookEndpoint: { names: 'endpointId' },
  listEvents: { names: null },
  retrieveEvent: { names: 'eventId' },
  resendEvent: { names: 'eventId', body: () => ({}) },
  resendEvents: {
    names: null,
    refersTo: 'endpointId',
    body: ({ endpointId }) => ({ endpoint_id: endpointId, dry_run: true }),
  },
};

export function exampleOf(operationId: string): Example {
  const example = examples[operationId];
  assert.ok(example, `${operationId} has no row in \`examples\` of test/harness/api-examples.ts`);
  return example;
}

/** Sends an operation's example with these records. */
export function call(
  api: ApiClient,
  { operationId, method, path }: Pick<Operation, 'operationId' | 'method' | 'path'>,
  records: OwnRecords,
): Promise<ApiResponse> {
  const example = exampleOf(operationId);
  const address = path.replace('{id}', records[example.names ?? 'intentId']) + (example.query?.(records) ?? '');
  return api.send(method, address, {
    ...(example.body ? { body: JSON.stringify(example.body(records)) } : {}),
    headers: exampleHeaders(example),
  });
}

/** Ids that nobody has. */
export const unknownRecords: OwnRecords = {
  intentId: '01a1f8ac-4b37-7417-9fed-11d78420f713',
  intentSecret: '0'.repeat(64),
  chargeId: '01a1f8ac-4b37-7417-9fed-11d78420f714',
  paidChargeId: '01a1f8ac-4b37-7417-9fed-11d78420f740',
  refundId: '01a1f8ac-4b37-7417-9fed-11d78420f741',
  transferId: '01a1f8ac-4b37-7417-9fed-11d78420f718',
  customerId: '01a1f8ac-4b37-7417-9fed-11d78420f723',
  subAccountId: '01a1f8ac-4b37-7417-9fed-11d78420f720',
  unusedSubAccountId: '01a1f8ac-4b37-7417-9fed-11d78420f730',
  subAccountGroupId: '01a1f8ac-4b37-7417-9fed-11d78420f721',
  paymentLinkId: '01a1f8ac-4b37-7417-9fed-11d78420f750',
  terminalId: '01a1f8ac-4b37-7417-9fed-11d78420f751',
  endpointId: '01a1f8ac-4b37-7417-9fed-11d78420f715',
  eventId: '01a1f8ac-4b37-7417-9fed-11d78420f760',
};
