import type { JsonObject } from '../../kit/strict-json.ts';
import type { LookUp, PayoutBatchResponse, PayoutResponse } from '../contract.ts';
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

/** The handle that holds Wave's id of the batch in which a payout was sent. */
export const batchIdHandle = 'batch_id';

/** Maps the response to a batch. Wave pays later: that it has the batch says nothing about any payout. */
export function batchStartResponse(reply: Reply): PayoutBatchResponse {
  if (reply.kind === 'not_sent') return { state: 'not_accepted', reason: 'network_unavailable' };
  if (reply.kind === 'lost') return unknown(reply.detail);
  if (isSuccess(reply)) {
    const id = isObject(reply.body) ? reply.body['id'] : undefined;
    return typeof id === 'string' ? batchAccepted(id) : unknown('the response is not a batch');
  }
  const response = startRefusal(reply);
  if (response.state === 'not_accepted' && response.reason === 'network_unavailable') return response;
  // The money may be enough for some of them, and a rule that one breaks stops no other.
  const isRefused = response.state !== 'unknown' || waveError(reply) === 'not_found';
  return isRefused ? { state: 'refused' } : unknown(`HTTP ${reply.status}`);
}

function batchAccepted(id: string): Extract<PayoutBatchResponse, { state: 'accepted' }> {
  return { state: 'accepted', networkReference: id, handles: { [batchIdHandle]: id } };
}

/**
 * What a batch shows of one of its payouts, whatever the state of the batch. Undefined where it does not show it, and `processing`
 * if it is still being read.
 */
export function batchItemResponse(
  reply: Reply,
  { reference, batchId }: { reference: string; batchId: string },
): PayoutResponse | undefined {
  if (reply.kind !== 'response' || !isSuccess(reply) || !isObject(reply.body)) return undefined;
  const { payouts, status } = reply.body;
  const shown = Array.isArray(payouts) ? payouts.filter(isObject) : [];
  const [item, ...others] = shown.filter((payout) => payout['client_reference'] === reference);
  const isAccepted = item ? item['status'] === 'processing' : status === 'processing';
  if (others.length > 0) return unknown('the batch has the payout twice');
  if (isAccepted) return { ...batchAccepted(batchId), state: 'processing' };
  if (!item) return undefined;
  return isUnpaid(item) ? { state: 'not_accepted', reason: 'float_empty' } : readPayout(item, reference);
}

/** Failed because our wallet had too little money: documented to be final for this payout, so another may be sent in its place. */
function isUnpaid({ status, payout_error: error }: JsonObject): boolean {
  return status === 'failed' && waveErrorCode(error) === 'insufficient-funds';
}

/** A search without the payouts of a batch that our empty wallet failed: they are, or will be, sent again alone. */
export function withoutUnpaid(reply: Reply): Reply {
  if (reply.kind !== 'response' || !isObject(reply.body)) return reply;
  const { result } = reply.body;
  if (!Array.isArray(result)) return reply;
  const rest = result.filter((payout) => !isObject(payout) || !isUnpaid(payout));
  return { ...reply, body: { ...reply.body, result: rest } };
}

/** Whether a look-up reads the batch. What came after a success only the payout itself shows. */
export function batchIdOf({ handles, hasSucceeded }: LookUp): string | undefined {
  return hasSucceeded === true ? undefined : handles[batchIdHandle];
}
