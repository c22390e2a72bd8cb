import type { JsonObject, JsonValue } from '../../kit/strict-json.ts';
import type { CollectionResponse, NetworkHandles } from '../contract.ts';
import type { Reply } from '../http-client.ts';
import { isObject, isOneOf, readAmount, refused, safeWord, unknown } from '../response-values.ts';
import { attemptFailure, waveError, waveErrorCode } from './errors.ts';
import type { WaveOptions } from './options.ts';

/** The handle that holds Wave's id of a session. */
export const sessionIdHandle = 'session_id';

/** What a session is read against. */
export interface SessionContext {
  reference: string;
  options: Pick<WaveOptions, 'cancelledSession'>;
}

const networkUnavailable = refused(
  'network_unavailable',
  'The network does not accept payments at the moment. Nothing was charged.',
);

/** Maps the response to the creation of a session. Only documented refusals are final; anything unclear is `unknown`. */
export function startResponse(reply: Reply, context: SessionContext): CollectionResponse {
  switch (reply.kind) {
    case 'response':
      return isSuccess(reply) ? readSession(reply.body, context) : startRefusal(reply);
    case 'not_sent':
      return networkUnavailable;
    case 'lost':
      return unknown(reply.detail);
  }
}

/** Maps the response to a look-up. One that could not be made says nothing about the session. */
export function sessionResponse(reply: Reply, context: SessionContext): CollectionResponse {
  if (reply.kind !== 'response') return unknown(reply.detail);
  if (isSuccess(reply)) return readSession(reply.body, context);
  return waveError(reply) === 'not_found' ? { state: 'not_found' } : unknown(`HTTP ${reply.status}`);
}

export function isSuccess({ status }: { status: number }): boolean {
  return status >= 200 && status < 300;
}

function startRefusal(reply: Extract<Reply, { kind: 'response' }>): CollectionResponse {
  const error = waveError(reply);
  if (error === 'credential' || error === 'busy') return networkUnavailable;
  if (error === 'invalid') {
    return refused('refused_by_network', 'The network did not accept the request. Nothing was charged.');
  }
  // A session that was created all the same cannot be paid, because nobody has its link.
  if (reply.status === 503 && waveErrorCode(reply.body) === 'service-unavailable') return networkUnavailable;
  return unknown(`HTTP ${reply.status}`);
}

const checkoutStatuses = ['open', 'complete', 'expired'] as const;
// `failed` stands in examples of webhooks only.
const paymentStatuses = ['processing', 'cancelled', 'succeeded', 'failed'] as const;

/** Reads a checkout session. A failed attempt is no end: the session stays open, and the payer may pay a minute later. */
export function readSession(session: unknown, context: SessionContext): CollectionResponse {
  if (!isObject(session) || typeof session['id'] !== 'string') return unknown('the response is not a session');
  if (session['client_reference'] !== context.reference) return unknown('the response is about another reference');
  const { id, checkout_status: checkout, payment_status: payment } = session;
  if (!isOneOf(checkoutStatuses, checkout) || !isOneOf(paymentStatuses, payment)) {
    return unknown(`the status${safeWord(checkout)}${safeWord(payment)} is not known`);
  }
  const isPaid = payment === 'succeeded';
  switch (checkout) {
    case 'open':
      return isPaid ? unknown('the session is open and paid') : openResponse(session, id);
    case 'complete':
      return isPaid ? paidResponse(session, id) : unknown('the session is complete and not paid');
    case 'expired':
      return isPaid ? unknown('the session has expired and is paid') : endedResponse(session, payment, context);
  }
}

function openResponse(session: JsonObject, networkReference: string): CollectionResponse {
  const url = session['wave_launch_url'];
  // The payer's browser follows it.
  if (typeof url !== 'string' || !/^https?:\/\//.test(url)) return unknown('the session has no launch URL');
  const handles: NetworkHandles = { [sessionIdHandle]: networkReference };
  return { state: 'awaiting_payer', nextAction: { type: 'open_url', url }, networkReference, handles };
}

function paidResponse(session: JsonObject, networkReference: string): CollectionResponse {
  const { transaction_id: transactionId, currency, restrict_payer_mobile: payerNumber } = session;
  const amountMinor = readAmount(session['amount']);
  if (typeof transactionId !== 'string' || typeof currency !== 'string' || amountMinor === undefined) {
    return unknown('what was paid is not as documented');
  }
  return {
    state: 'succeeded',
    providerTransaction: {
      ...{ transactionId, networkReference, amountMinor, currency },
      // The statement has the fee; the session does not.
      networkFeeMinor: 0n,
      payerNumber: typeof payerNumber === 'string' ? payerNumber : null,
    },
  };
}

function endedResponse(
  session: JsonObject,
  payment: Exclude<(typeof paymentStatuses)[number], 'succeeded'>,
  { options }: SessionContext,
): CollectionResponse {
  const failure = attemptFailure(errorCodeOf(session['last_payment_error']));
  if (failure) return failure;
  return payment === 'cancelled' && options.cancelledSession === 'declined_by_payer'
    ? refused('declined_by_payer', 'The payer declined the payment.')
    : refused('expired', 'The payment was not approved in time.');
}

function errorCodeOf(error: JsonValue | undefined): JsonValue | undefined {
  return isObject(error) ? error['code'] : undefined;
}

/** The sessions of a search by our reference, which Wave does not require to be unique; undefined if it is not a search's. */
export function foundSessions(reply: Reply): JsonObject[] | undefined {
  if (reply.kind !== 'response' || !isSuccess(reply) || !isObject(reply.body)) return undefined;
  const { result } = reply.body;
  return Array.isArray(result) && result.every(isObject) ? result : undefined;
}
