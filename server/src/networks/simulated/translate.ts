import type { JsonObject, JsonValue } from '../../kit/strict-json.ts';
import type {
  ProviderNotification,
  CollectionResponse,
  Failure,
  NetworkHandles,
  NextAction,
  ProviderTransaction,
} from '../contract.ts';
import { errorCode, isObject, readAmount, safeWord, unknown } from './response-values.ts';
import type { Reply } from './client.ts';

/** The handle under which the network's own id of a session is kept. */
export const sessionIdHandle = 'session_id';

/** What the answer to a start says. Only documented refusals are final; whatever else is unclear is `unknown`. */
export function startResponse(reply: Reply, reference: string): CollectionResponse {
  switch (reply.kind) {
    case 'answer':
      if (reply.status === 200) return responseOf(reply.body, reference);
      return startRefusal(reply);
    case 'not_sent':
      return { state: 'refused', failure: networkUnavailable };
    case 'lost':
      return unknown(reply.detail);
  }
}

/** What the answer to any later call says; that one could not be made says nothing about the collection. */
export function sessionResponse(reply: Reply, reference: string): CollectionResponse {
  if (reply.kind !== 'answer') return unknown(reply.detail);
  if (reply.status === 200) return responseOf(reply.body, reference);
  const code = errorCode(reply);
  if (reply.status === 404 && code === 'not_found') return { state: 'not_found' };
  if (reply.status === 422 && code === 'wrong_code') return wrongCode(reply.body);
  return unknown(`HTTP ${reply.status}`);
}

/** The one session in the answer to a search by our reference, or what stands in its way. */
export function searchResponse(reply: Reply, reference: string): CollectionResponse {
  if (reply.kind !== 'answer' || reply.status !== 200) return sessionResponse(reply, reference);
  const result = isObject(reply.body) ? reply.body['result'] : undefined;
  if (!Array.isArray(result) || result.length > 1) return unknown('the search was not answered as documented');
  return result.length === 0 ? { state: 'not_found' } : responseOf(result[0], reference);
}

/** The network's id of the session that a search found. */
export function sessionIdFound(reply: Reply): string | undefined {
  const result = reply.kind === 'answer' && isObject(reply.body) ? reply.body['result'] : undefined;
  const session = Array.isArray(result) ? result[0] : undefined;
  return isObject(session) && typeof session['id'] === 'string' ? session['id'] : undefined;
}

/** A session as the network tells of it in a callback, with the reference it is about; undefined if it has none. */
export function sessionNotification(session: unknown): ProviderNotification | undefined {
  if (!isObject(session) || typeof session['reference'] !== 'string') return undefined;
  const { reference } = session;
  return { operation: 'collection', reference, response: responseOf(session, reference) };
}

function responseOf(session: unknown, reference: string): CollectionResponse {
  if (!isObject(session) || typeof session['id'] !== 'string') return unknown('the answer is not a session');
  if (session['reference'] !== reference) return unknown('the answer is about another reference');
  const { status } = session;
  if (!isStatus(status)) return unknown(`the status${safeWord(status)} is not known`);
  switch (status) {
    case 'open':
      return openResponse(session, session['id']);
    case 'complete':
      return withTransaction('succeeded', session, session['id']);
    case 'reversed':
      return withTransaction('reversed', session, session['id']);
    case 'failed':
      return failedResponse(session['failure_code']);
    case 'expired':
      return refused('expired', 'The payment was not approved in time.');
    case 'cancelled':
      return refused('cancelled', 'The payment was cancelled before it was approved.');
  }
}

const statuses = ['open', 'complete', 'failed', 'expired', 'cancelled', 'reversed'] as const;
type Status = (typeof statuses)[number];

function isStatus(value: unknown): value is Status {
  return statuses.some((status) => status === value);
}

function openResponse(session: JsonObject, networkReference: string): CollectionResponse {
  const nextAction = readAction(session['action']);
  if (nextAction === undefined) return unknown('what the payer must do is not known');
  const handles: NetworkHandles = { [sessionIdHandle]: networkReference };
  return { state: 'awaiting_payer', nextAction, networkReference, handles };
}

const actionTypes = ['open_url', 'approve_on_phone', 'approve_then_confirm', 'enter_code'] as const;
type ActionType = (typeof actionTypes)[number];

function isActionType(value: unknown): value is ActionType {
  return actionTypes.some((type) => type === value);
}

function readAction(action: JsonValue | undefined): NextAction | undefined {
  if (!isObject(action)) return undefined;
  const { type, url, length } = action;
  if (!isActionType(type)) return undefined;
  switch (type) {
    case 'open_url':
      // The payer's browser is sent there.
      return typeof url === 'string' && /^https?:\/\//.test(url) ? { type, url } : undefined;
    case 'approve_on_phone':
    case 'approve_then_confirm':
      return { type };
    case 'enter_code':
      return typeof length === 'number' && length >= 1 && length <= 12 ? { type, length } : undefined;
  }
}

function withTransaction(
  state: 'succeeded' | 'reversed',
  session: JsonObject,
  networkReference: string,
): CollectionResponse {
  const providerTransaction = readTransaction(session, networkReference);
  return providerTransaction ? { state, providerTransaction } : unknown('what was paid is not told as documented');
}

function readTransaction(session: JsonObject, networkReference: string): ProviderTransaction | undefined {
  const { paid, payer_number: payerNumber } = session;
  if (!isObject(paid)) return undefined;
  const { transaction_id: transactionId, currency } = paid;
  const amountMinor = readAmount(paid['gross_amount']);
  const networkFeeMinor = readAmount(paid['fee']);
  if (typeof transactionId !== 'string' || transactionId === '' || typeof currency !== 'string') return undefined;
  if (amountMinor === undefined || networkFeeMinor === undefined) return undefined;
  const payer = typeof payerNumber === 'string' ? payerNumber : null;
  return { transactionId, networkReference, amountMinor, currency, networkFeeMinor, payerNumber: payer };
}

const failureCodes = ['payer_declined', 'balance_too_low', 'wrong_code', 'not_permitted'] as const;
type NetworkFailureCode = (typeof failureCodes)[number];

function isFailureCode(value: unknown): value is NetworkFailureCode {
  return failureCodes.some((code) => code === value);
}

function failedResponse(code: JsonValue | undefined): CollectionResponse {
  if (!isFailureCode(code)) return unknown(`the failure code${safeWord(code)} is not known`);
  switch (code) {
    case 'payer_declined':
      return refused('declined_by_payer', 'The payer declined the payment.');
    case 'balance_too_low':
      return refused('insufficient_funds', 'There is not enough money in the wallet.');
    case 'wrong_code':
      return refused('code_wrong', 'The code was wrong too many times.');
    case 'not_permitted':
      return refused('refused_by_network', 'The network refused the payment.');
  }
}

const networkUnavailable: Failure = {
  code: 'network_unavailable',
  reason: 'The network takes no payments just now. Nothing was charged.',
};

/** The statuses and codes under which the network documents that it created nothing. */
function startRefusal(reply: { status: number; body: JsonValue | undefined }): CollectionResponse {
  const code = errorCode(reply);
  if (reply.status === 503 && code === 'not_accepted') return { state: 'refused', failure: networkUnavailable };
  if (reply.status === 401 && code === 'invalid_credential') return { state: 'refused', failure: networkUnavailable };
  if (reply.status === 400 && code === 'invalid_request') {
    return refused('refused_by_network', 'The network did not accept the request. Nothing was charged.');
  }
  return unknown(`HTTP ${reply.status}`);
}

function wrongCode(body: JsonValue | undefined): CollectionResponse {
  const attemptsLeft = isObject(body) ? body['attempts_left'] : undefined;
  if (typeof attemptsLeft !== 'number') return unknown('the attempts left are not told');
  return { state: 'code_refused', attemptsLeft };
}

function refused(code: Failure['code'], reason: string): CollectionResponse {
  return { state: 'refused', failure: { code, reason } };
}
