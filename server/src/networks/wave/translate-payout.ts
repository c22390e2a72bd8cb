import type { JsonObject } from '../../kit/strict-json.ts';
import type { PayoutResponse } from '../contract.ts';
import type { Reply } from '../http-client.ts';
import { isObject, isOneOf, readAmount, refused, safeWord, unknown } from '../response-values.ts';
import { payoutFailure, waveError, waveErrorCode } from './errors.ts';
import { isSuccess } from './translate.ts';

/** The handle that holds Wave's id of a payout. */
export const payoutIdHandle = 'payout_id';

/**
 * Maps the response to a payout request. Wave documents that 408 and 5xx may have paid, so they are `unknown`; the same key
 * never pays twice.
 */
export function payoutStartResponse(reply: Reply, reference: string): PayoutResponse {
  switch (reply.kind) {
    case 'response':
      return isSuccess(reply) ? readPayout(reply.body, reference) : startRefusal(reply);
    case 'not_sent':
      return { state: 'not_accepted', reason: 'network_unavailable' };
    case 'lost':
      return unknown(reply.detail);
  }
}

/** Maps the response to a look-up. One that could not be made says nothing about the payout. */
export function payoutLookUpResponse(reply: Reply, reference: string): PayoutResponse {
  if (reply.kind !== 'response') return unknown(reply.detail);
  if (isSuccess(reply)) return readPayout(reply.body, reference);
  return waveError(reply) === 'not_found' ? { state: 'not_found' } : unknown(`HTTP ${reply.status}`);
}

/** What an error says of money that was to leave us; null where only a payout or a refund has such an error. */
export function outgoingRefusal(reply: Extract<Reply, { kind: 'response' }>): PayoutResponse | null {
  const error = waveError(reply);
  // Not the request's fault: it can be sent once the key is valid, or there is less to do.
  if (error === 'credential' || error === 'busy') return { state: 'not_accepted', reason: 'network_unavailable' };
  if (error === 'invalid') {
    return refused('refused_by_network', 'The network did not accept the request. Nothing was paid out.');
  }
  const isRefusal = reply.status === 400 || reply.status === 422;
  if (isRefusal && waveErrorCode(reply.body) === 'insufficient-funds') {
    return { state: 'not_accepted', reason: 'float_empty' };
  }
  return null;
}

function startRefusal(reply: Extract<Reply, { kind: 'response' }>): PayoutResponse {
  const refusal = outgoingRefusal(reply);
  if (refusal) return refusal;
  const isRefusal = reply.status === 400 || reply.status === 422;
  const failure = isRefusal ? payoutFailure(waveErrorCode(reply.body)) : undefined;
  // `idempotency-mismatch` too: it means that Wave has the first request, which the look-up finds.
  return failure ?? unknown(`HTTP ${reply.status}`);
}

const statuses = ['processing', 'succeeded', 'failed', 'reversed'] as const;

function readPayout(payout: unknown, reference: string): PayoutResponse {
  if (!isObject(payout) || typeof payout['id'] !== 'string') return unknown('the response is not a payout');
  if (payout['client_reference'] !== reference) return unknown('the response is about another reference');
  const { id: networkReference, status } = payout;
  if (!isOneOf(statuses, status)) return unknown(`the status${safeWord(status)} is not known`);
  switch (status) {
    case 'processing':
      return { state: 'processing', networkReference, handles: { [payoutIdHandle]: networkReference } };
    case 'succeeded':
    case 'reversed':
      return movedResponse(status, payout, networkReference);
    case 'failed':
      return failedResponse(payout);
  }
}

function movedResponse(state: 'succeeded' | 'reversed', payout: JsonObject, networkReference: string): PayoutResponse {
  const { currency, fee } = payout;
  const amountMinor = readAmount(payout['receive_amount']);
  const networkFeeMinor = fee === undefined || fee === null ? 0n : readAmount(fee);
  if (typeof currency !== 'string' || amountMinor === undefined || networkFeeMinor === undefined) {
    return unknown('what was received is not as documented');
  }
  // A payout names no transaction; its own id is as unique.
  const transactionId = networkReference;
  return { state, providerTransaction: { transactionId, networkReference, amountMinor, currency, networkFeeMinor } };
}

/** A failed payout is final whatever its reason. */
function failedResponse({ payout_error: error }: JsonObject): PayoutResponse {
  const code = isObject(error) ? error['error_code'] : undefined;
  return payoutFailure(code) ?? refused('refused_by_network', 'The network refused the payout.');
}
