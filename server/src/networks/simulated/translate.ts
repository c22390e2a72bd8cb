import type { JsonObject, JsonValue } from '../../kit/strict-json.ts';
import type {
  ProviderNotification,
  CollectionResponse,
  NetworkHandles,
  NextAction,
  ProviderTransaction,
} from '../contract.ts';
import { errorCode, isObject, isOneOf, readMovedMoney, refused, safeWord, unknown } from '../response-values.ts';
import type { Reply } from '../http-client.ts';

/** The handle that holds the network's own id of a session. */
export const sessionIdHandle = 'session_id';

/** Maps the response to a start. Only documented refusals are final; anything unclear is `unknown`. */
export function startResponse(reply: Reply, reference: string): CollectionResponse {
  switch (reply.kind) {
    case 'response':
      return reply.status === 200 ? responseOf(reply.body, reference) : startRefusal(reply);
    case 'not_sent':
      return networkUnavailable;
    case 'lost':
      return unknown(reply.detail);
  }
}

/** Maps the response to any later call. A call that could not be made says nothing about the collection. */
export function sessionResponse(reply: Reply, reference: string): CollectionResponse {
  if (reply.kind !== 'response') return unknown(reply.detail);
  if (reply.status === 200) return responseOf(reply.body, reference);
  const code = errorCode(reply);
  if (reply.status === 404 && code === 'not_found') return { state: 'not_found' };
  if (reply.status === 422 && code === 'wrong_code') return wrongCode(reply.body);
  return unknown(`HTTP ${reply.status}`);
}

/** Parses the session of a callback; undefined if it names no reference. */
export function sessionNotification(session: unknown): ProviderNotification | undefined {
  if (!isObject(session) || typeof session['reference'] !== 'string') return undefined;
  const { reference } = session;
  return { operation: 'collection', reference, response: responseOf(session, reference) };
}

function responseOf(session: unknown, reference: string): CollectionResponse {
  if (!isObject(session) || typeof session['id'] !== 'string') return unknown('the response is not a session');
  if (session['reference'] !== reference) return unknown('the response is about another reference');
  const { status } = session;
  if (!isOneOf(statuses, status)) return unknown(`the status${safeWord(status)} is not known`);
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

function openResponse(session: JsonObject, networkReference: string): CollectionResponse {
  const nextAction = readAction(session['action']);
  if (nextAction === undefined) return unknown('what the payer must do is not known');
  const handles: NetworkHandles = { [sessionIdHandle]: networkReference };
  return { state: 'awaiting_payer', nextAction, networkReference, handles };
}

const actionTypes = ['open_url', 'approve_on_phone', 'approve_then_confirm', 'enter_code'] as const;

function readAction(action: JsonValue | undefined): NextAction | undefined {
  if (!isObject(action)) return undefined;
  const { type, url, length } = action;
  if (!isOneOf(actionTypes, type)) return undefined;
  switch (type) {
    case 'open_url':
      // The payer's browser follows it.
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
  return providerTransaction ? { state, providerTransaction } : unknown('what was paid is not as documented');
}

function readTransaction(session: JsonObject, networkReference: string): ProviderTransaction | undefined {
  const { paid, payer_number: payerNumber } = session;
  const money = readMovedMoney(paid, 'gross_amount');
  return money && { ...money, networkReference, payerNumber: typeof payerNumber === 'string' ? payerNumber : null };
}

const failureCodes = ['payer_declined', 'balance_too_low', 'wrong_code', 'not_permitted'] as const;

function failedResponse(code: JsonValue | undefined): CollectionResponse {
  if (!isOneOf(failureCodes, code)) return unknown(`the failure code${safeWord(code)} is not known`);
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

const networkUnavailable = refused(
  'network_unavailable',
  'The network does not accept payments at the moment. Nothing was charged.',
);

/** The statuses and codes for which the network documents that nothing was created. */
function startRefusal(reply: { status: number; body: JsonValue | undefined }): CollectionResponse {
  const code = errorCode(reply);
  if (reply.status === 503 && code === 'not_accepted') return networkUnavailable;
  if (reply.status === 401 && code === 'invalid_credential') return networkUnavailable;
  if (reply.status === 400 && code === 'invalid_request') {
    return refused('refused_by_network', 'The network did not accept the request. Nothing was charged.');
  }
  return unknown(`HTTP ${reply.status}`);
}

function wrongCode(body: JsonValue | undefined): CollectionResponse {
  const attemptsLeft = isObject(body) ? body['attempts_left'] : undefined;
  if (typeof attemptsLeft !== 'number') return unknown('the remaining attempts are missing');
  return { state: 'code_refused', attemptsLeft };
}
