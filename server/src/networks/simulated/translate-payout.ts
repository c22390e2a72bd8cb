import type { JsonObject, JsonValue } from '../../kit/strict-json.ts';
import type { ProviderNotification, PayoutResponse } from '../contract.ts';
import { errorCode, isObject, isOneOf, readMovedMoney, refused, safeWord, unknown } from '../response-values.ts';
import type { Reply } from '../http-client.ts';

/** The handle that holds the network's own id of a payout or refund. */
export const payoutIdHandle = 'payout_id';

/**
 * Maps the response to a payout request. Only documented refusals are final, and only what is documented to have created
 * nothing may be sent again; anything unclear is `unknown`.
 */
export function payoutStartResponse(reply: Reply, reference: string): PayoutResponse {
  switch (reply.kind) {
    case 'response':
      return reply.status === 200 ? responseOf(reply.body, reference) : startRefusal(reply);
    case 'not_sent':
      // The network never received it.
      return { state: 'not_accepted', reason: 'network_unavailable' };
    case 'lost':
      return unknown(reply.detail);
  }
}

/** Maps the response to a look-up. One that could not be made says nothing about the payout. */
export function payoutLookUpResponse(reply: Reply, reference: string): PayoutResponse {
  if (reply.kind !== 'response') return unknown(reply.detail);
  if (reply.status === 200) return responseOf(reply.body, reference);
  if (reply.status === 404 && errorCode(reply) === 'not_found') return { state: 'not_found' };
  return unknown(`HTTP ${reply.status}`);
}

// The codes for which the networks document that they do not refund, now or on any retry.
const refundRefusals: ReadonlyMap<unknown, string> = new Map([
  ['refunds_not_supported', 'The network does not refund.'],
  ['partial_not_supported', 'The network refunds the whole amount only.'],
  ['not_refundable', 'The network finds no payment to refund.'],
  ['exceeds_refundable', 'The network has already refunded too much of this payment.'],
]);

/** Maps the response to a refund request: as for a payout, with the refusals that only refunds have. */
export function refundStartResponse(reply: Reply, reference: string): PayoutResponse {
  const reason = reply.kind === 'response' && reply.status === 422 ? refundRefusals.get(errorCode(reply)) : undefined;
  return reason === undefined ? payoutStartResponse(reply, reference) : refused('refused_by_network', reason);
}

/** Parses the payout of a callback; undefined if it names no reference. */
export function payoutNotification(payout: unknown): ProviderNotification | undefined {
  if (!isObject(payout) || typeof payout['reference'] !== 'string') return undefined;
  const { reference } = payout;
  return { operation: 'payout', reference, response: responseOf(payout, reference) };
}

/** The statuses and codes for which the network documents that nothing was created. */
function startRefusal(reply: { status: number; body: JsonValue | undefined }): PayoutResponse {
  const code = errorCode(reply);
  if (reply.status === 503 && code === 'not_accepted') return { state: 'not_accepted', reason: 'network_unavailable' };
  // Our credential's fault and not the request's: it can be sent once the credential is valid.
  if (reply.status === 401 && code === 'invalid_credential') {
    return { state: 'not_accepted', reason: 'network_unavailable' };
  }
  if (reply.status === 422 && code === 'float_empty') return { state: 'not_accepted', reason: 'float_empty' };
  if (reply.status === 400 && code === 'invalid_request') {
    return refused('refused_by_network', 'The network did not accept the request. Nothing was paid out.');
  }
  return unknown(`HTTP ${reply.status}`);
}

function responseOf(payout: unknown, reference: string): PayoutResponse {
  if (!isObject(payout) || typeof payout['id'] !== 'string') return unknown('the response is not a payout');
  if (payout['reference'] !== reference) return unknown('the response is about another reference');
  const { id: networkReference, status } = payout;
  if (!isOneOf(statuses, status)) return unknown(`the status${safeWord(status)} is not known`);
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

function withTransaction(
  state: 'succeeded' | 'reversed',
  payout: JsonObject,
  networkReference: string,
): PayoutResponse {
  const money = readMovedMoney(payout['received'], 'amount');
  return money
    ? { state, providerTransaction: { ...money, networkReference } }
    : unknown('what was received is not as documented');
}

const failureCodes = ['no_such_account', 'account_blocked', 'not_permitted'] as const;

function failedResponse(code: JsonValue | undefined): PayoutResponse {
  if (!isOneOf(failureCodes, code)) return unknown(`the failure code${safeWord(code)} is not known`);
  switch (code) {
    case 'no_such_account':
      return refused('account_not_found', 'The network has no account with this number.');
    case 'account_blocked':
      return refused('account_blocked', 'The account of this number is blocked and cannot receive money.');
    case 'not_permitted':
      return refused('refused_by_network', 'The network refused the payout.');
  }
}
