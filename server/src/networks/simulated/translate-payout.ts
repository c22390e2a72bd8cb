import type { JsonObject, JsonValue } from '../../kit/strict-json.ts';
import type { ProviderNotification, Failure, PayoutResponse, PayoutTransaction } from '../contract.ts';
import { errorCode, isObject, readAmount, safeWord, unknown } from './response-values.ts';
import type { Reply } from './client.ts';

/** The handle under which the network's own id of a payout is kept. */
export const payoutIdHandle = 'payout_id';

/**
 * What the answer to an order says. Only documented refusals are final, and only what is documented to have created
 * nothing may be sent again; whatever else is unclear is `unknown`.
 */
export function payoutStartResponse(reply: Reply, reference: string): PayoutResponse {
  switch (reply.kind) {
    case 'answer':
      return reply.status === 200 ? responseOf(reply.body, reference) : orderRefusal(reply);
    case 'not_sent':
      // The network has seen nothing of it.
      return { state: 'not_accepted', reason: 'network_unavailable' };
    case 'lost':
      return unknown(reply.detail);
  }
}

/** What the answer to a look-up says; that one could not be made says nothing about the payout. */
export function payoutLookUpResponse(reply: Reply, reference: string): PayoutResponse {
  if (reply.kind !== 'answer') return unknown(reply.detail);
  if (reply.status === 200) return responseOf(reply.body, reference);
  if (reply.status === 404 && errorCode(reply) === 'not_found') return { state: 'not_found' };
  return unknown(`HTTP ${reply.status}`);
}

/** The one payout in the answer to a search by our reference, or what stands in its way. */
export function payoutSearchResponse(reply: Reply, reference: string): PayoutResponse {
  if (reply.kind !== 'answer' || reply.status !== 200) return payoutLookUpResponse(reply, reference);
  const result = isObject(reply.body) ? reply.body['result'] : undefined;
  if (!Array.isArray(result) || result.length > 1) return unknown('the search was not answered as documented');
  return result.length === 0 ? { state: 'not_found' } : responseOf(result[0], reference);
}

/** A payout as the network tells of it in a callback, with the reference it is about; undefined if it has none. */
export function payoutNotification(payout: unknown): ProviderNotification | undefined {
  if (!isObject(payout) || typeof payout['reference'] !== 'string') return undefined;
  const { reference } = payout;
  return { operation: 'payout', reference, response: responseOf(payout, reference) };
}

/** The statuses and codes under which the network documents that it created nothing. */
function orderRefusal(reply: { status: number; body: JsonValue | undefined }): PayoutResponse {
  const code = errorCode(reply);
  if (reply.status === 503 && code === 'not_accepted') return { state: 'not_accepted', reason: 'network_unavailable' };
  // Our account's fault and not the order's: it goes out once that is mended.
  if (reply.status === 401 && code === 'invalid_credential') {
    return { state: 'not_accepted', reason: 'network_unavailable' };
  }
  if (reply.status === 422 && code === 'float_empty') return { state: 'not_accepted', reason: 'float_empty' };
  if (reply.status === 400 && code === 'invalid_request') {
    return refused('refused_by_network', 'The network did not accept the order. Nothing was paid out.');
  }
  return unknown(`HTTP ${reply.status}`);
}

function responseOf(payout: unknown, reference: string): PayoutResponse {
  if (!isObject(payout) || typeof payout['id'] !== 'string') return unknown('the answer is not a payout');
  if (payout['reference'] !== reference) return unknown('the answer is about another reference');
  const { id: networkReference, status } = payout;
  if (!isStatus(status)) return unknown(`the status${safeWord(status)} is not known`);
  switch (status) {
    case 'pending':
      return { state: 'processing', networkReference, handles: { [payoutIdHandle]: networkReference } };
    case 'completed':
      return withTransaction('succeeded', payout, networkReference);
    case 'reversed':
      return withTransaction('reversed', payout, networkReference);
    case 'failed':
      return failedResponse(payout['failure_code']);
  }
}

const statuses = ['pending', 'completed', 'failed', 'reversed'] as const;
type Status = (typeof statuses)[number];

function isStatus(value: unknown): value is Status {
  return statuses.some((status) => status === value);
}

function withTransaction(
  state: 'succeeded' | 'reversed',
  payout: JsonObject,
  networkReference: string,
): PayoutResponse {
  const providerTransaction = readTransaction(payout['received'], networkReference);
  return providerTransaction ? { state, providerTransaction } : unknown('what was received is not told as documented');
}

function readTransaction(received: JsonValue | undefined, networkReference: string): PayoutTransaction | undefined {
  if (!isObject(received)) return undefined;
  const { transaction_id: transactionId, currency } = received;
  const amountMinor = readAmount(received['amount']);
  const networkFeeMinor = readAmount(received['fee']);
  if (typeof transactionId !== 'string' || transactionId === '' || typeof currency !== 'string') return undefined;
  if (amountMinor === undefined || networkFeeMinor === undefined) return undefined;
  return { transactionId, networkReference, amountMinor, currency, networkFeeMinor };
}

const failureCodes = ['no_such_account', 'account_blocked', 'not_permitted'] as const;
type NetworkFailureCode = (typeof failureCodes)[number];

function isFailureCode(value: unknown): value is NetworkFailureCode {
  return failureCodes.some((code) => code === value);
}

function failedResponse(code: JsonValue | undefined): PayoutResponse {
  if (!isFailureCode(code)) return unknown(`the failure code${safeWord(code)} is not known`);
  switch (code) {
    case 'no_such_account':
      return refused('account_not_found', 'The network has no account with this number.');
    case 'account_blocked':
      return refused('account_blocked', 'The account of this number is blocked and takes no money.');
    case 'not_permitted':
      return refused('refused_by_network', 'The network refused the payout.');
  }
}

function refused(code: Failure['code'], reason: string): PayoutResponse {
  return { state: 'refused', failure: { code, reason } };
}
