import type { JsonObject, JsonValue } from '../../kit/strict-json.ts';
import type { CollectionResponse, NetworkHandles, PayoutResponse, ProviderTransaction } from '../contract.ts';
import type { Reply } from '../http-client.ts';
import { isObject, isOneOf, readAmount, refused, safeWord, unknown } from '../response-values.ts';
import type { GsmaConfiguration } from './configuration.ts';
import { hasDocumentedStatus, meaningOf, readError, refusedAs, type ErrorMeaning } from './errors.ts';

/** The handles of a request that is under way. */
export const transactionHandle = 'transaction';
export const requestHandle = 'request';
/** How often the request's state may be polled. */
export const pollLimitHandle = 'poll_limit';

/** What a response says, whether it is about a collection, a payout or a refund. */
export type Outcome =
  | ErrorMeaning
  | { kind: 'succeeded' | 'reversed'; transaction: ProviderTransaction }
  | { kind: 'pending'; networkReference: string; handles: NetworkHandles; mustPoll: boolean }
  /** The request has ended; its transaction says how. Without a reference it is found by ours. */
  | { kind: 'completed'; transactionReference: string | null }
  | { kind: 'not_found' };

export interface ReplyContext {
  configuration: GsmaConfiguration;
  reference: string;
  type: 'merchantpay' | 'disbursement' | 'reversal';
}

/** Reads the response to a request. Only documented refusals are final; anything unclear is `unknown`. */
export function readStart(reply: Reply, context: ReplyContext): Outcome {
  if (reply.kind === 'not_sent') return { kind: 'not_accepted', reason: 'network_unavailable' };
  if (reply.kind === 'lost') return unclear(reply.detail);
  if (reply.status === 201) return readTransaction(reply.body, context);
  if (reply.status === 202) return readRequestState(reply.body, context);
  const error = readError(reply.body);
  return error && hasDocumentedStatus(error, reply.status)
    ? meaningOf(error, { ...context, payer: payerOf(context), stage: 'request' })
    : unclear(`HTTP ${reply.status}`);
}

/** Reads the response to a look-up. One that could not be made says nothing about the request. */
export function readLookUp(reply: Reply, context: ReplyContext): Outcome {
  if (reply.kind !== 'response') return unclear(reply.detail);
  if (reply.status === 200) {
    const isRequestState = isObject(reply.body) && 'serverCorrelationId' in reply.body;
    return isRequestState ? readRequestState(reply.body, context) : readTransaction(reply.body, context);
  }
  return isNotFound(reply) ? { kind: 'not_found' } : unclear(`HTTP ${reply.status}`);
}

const linkForm = /\/(?:transactions|requeststates)\/[0-9A-Za-z][0-9A-Za-z._:~-]{0,127}$/;

/**
 * The path of what `/responses/{clientCorrelationId}` links to; undefined where nothing was created. Only the resource's kind
 * and id are read from the link, so that it cannot lead a credential to another host.
 */
export function readLink(reply: Reply): { path: string } | { outcome: Outcome } {
  if (reply.kind !== 'response') return { outcome: unclear(reply.detail) };
  if (isNotFound(reply)) return { outcome: { kind: 'not_found' } };
  const link = reply.status === 200 && isObject(reply.body) ? reply.body['link'] : undefined;
  const [path] = typeof link === 'string' && link.length <= 2_048 ? (linkForm.exec(link) ?? []) : [];
  return path === undefined ? { outcome: unclear(`HTTP ${reply.status} without a known link`) } : { path };
}

export function collectionResponse(outcome: Outcome): CollectionResponse {
  switch (outcome.kind) {
    case 'succeeded':
    case 'reversed':
      return { state: outcome.kind, providerTransaction: outcome.transaction };
    case 'pending': {
      const { networkReference, handles } = outcome;
      return { state: 'awaiting_payer', nextAction: { type: 'approve_on_phone' }, networkReference, handles };
    }
    case 'refused':
      return refused(outcome.code, outcome.reason);
    case 'not_accepted': {
      const { code, reason } = refusedAs('network_unavailable');
      return refused(code, reason);
    }
    case 'not_found':
      return { state: 'not_found' };
    case 'unknown':
      return unknown(outcome.detail);
    case 'duplicate':
    case 'completed':
      return unknown('the request is known, and its transaction is not');
  }
}

export function payoutResponse(outcome: Outcome): PayoutResponse {
  switch (outcome.kind) {
    case 'succeeded':
    case 'reversed': {
      const { payerNumber: _, ...providerTransaction } = outcome.transaction;
      return { state: outcome.kind, providerTransaction };
    }
    case 'pending':
      return { state: 'processing', networkReference: outcome.networkReference, handles: outcome.handles };
    case 'refused':
      return refused(outcome.code, outcome.reason);
    case 'not_accepted':
      return { state: 'not_accepted', reason: outcome.reason };
    case 'not_found':
      return { state: 'not_found' };
    case 'unknown':
      return unknown(outcome.detail);
    case 'duplicate':
    case 'completed':
      return unknown('the request is known, and its transaction is not');
  }
}

function payerOf({ type }: ReplyContext): 'them' | 'us' {
  return type === 'merchantpay' ? 'them' : 'us';
}

function unclear(detail: string): Outcome {
  return { kind: 'unknown', detail };
}

function isNotFound(reply: { status: number; body: JsonValue | undefined }): boolean {
  return reply.status === 404 && readError(reply.body)?.category === 'identification';
}

function readRequestState(state: JsonValue | undefined, context: ReplyContext): Outcome {
  if (!isObject(state)) return unclear('the response is not a request state');
  const { serverCorrelationId: id, status, objectReference, notificationMethod, pollLimit } = state;
  if (typeof id !== 'string' || !isOneOf(['pending', 'completed', 'failed'] as const, status)) {
    return unclear('the request state is not as documented');
  }
  switch (status) {
    case 'completed':
      return { kind: 'completed', transactionReference: typeof objectReference === 'string' ? objectReference : null };
    case 'failed': {
      const error = readError(state['error']);
      // Failed is documented as final; which failure it is may be missing.
      if (!error) return refusedAs('refused_by_network');
      const meaning = meaningOf(error, { ...context, payer: payerOf(context), stage: 'end' });
      return meaning.kind === 'unknown' ? refusedAs('refused_by_network') : meaning;
    }
    case 'pending': {
      const limit = typeof pollLimit === 'number' && Number.isInteger(pollLimit) && pollLimit >= 0 ? pollLimit : null;
      const handles = { [requestHandle]: id, ...(limit === null ? {} : { [pollLimitHandle]: String(limit) }) };
      return { kind: 'pending', networkReference: id, handles, mustPoll: notificationMethod === 'polling' };
    }
  }
}

function readTransaction(transaction: JsonValue | undefined, context: ReplyContext): Outcome {
  if (!isObject(transaction)) return unclear('the response is not a transaction');
  const { transactionReference, transactionStatus, type } = transaction;
  const ours = transaction['requestingOrganisationTransactionReference'] ?? context.reference;
  if (ours !== context.reference) return unclear('the response is about another reference');
  if (typeof transactionReference !== 'string' || transactionReference === '')
    return unclear('there is no transaction id');
  if (type !== undefined && type !== context.type) return unclear('the transaction is of another type');
  const status = typeof transactionStatus === 'string' ? transactionStatus.toLowerCase() : '';
  const { statuses } = context.configuration;
  const meaning = Object.hasOwn(statuses, status) ? statuses[status] : undefined;
  if (meaning === undefined) return unclear(`the status${safeWord(status)} is not known`);
  if (meaning === 'pending') {
    const handles = { [transactionHandle]: transactionReference };
    return { kind: 'pending', networkReference: transactionReference, handles, mustPoll: false };
  }
  if (meaning !== 'succeeded' && meaning !== 'reversed') return refusedAs(meaning);
  const money = readMoney(transaction, context.configuration);
  if (!money) return unclear('what was moved is not as documented');
  const payerNumber = partyValue(transaction['debitParty'], context.configuration.identifier.key);
  const moved = { ...money, transactionId: transactionReference, networkReference: transactionReference, payerNumber };
  return { kind: meaning, transaction: moved };
}

function readMoney(transaction: JsonObject, { fees }: GsmaConfiguration) {
  const { currency } = transaction;
  const amountMinor = readGsmaAmount(transaction['amount']);
  if (amountMinor === undefined || typeof currency !== 'string') return undefined;
  if (fees === 'theirs') return { amountMinor, currency, networkFeeMinor: 0n };
  const networkFeeMinor = sumOfFees(transaction['fees'], currency);
  return networkFeeMinor === undefined ? undefined : { amountMinor, currency, networkFeeMinor };
}

/** The API has four decimals; the last two of an amount of money that exists are zeros. */
export function readGsmaAmount(value: JsonValue | undefined): bigint | undefined {
  return readAmount(typeof value === 'string' ? value.replace(/^(\d+\.\d\d)0{1,2}$/, '$1') : value);
}

function sumOfFees(fees: JsonValue | undefined, currency: string): bigint | undefined {
  if (fees === undefined) return 0n;
  if (!Array.isArray(fees)) return undefined;
  let sum = 0n;
  for (const fee of fees) {
    const amount = isObject(fee) && fee['feeCurrency'] === currency ? readGsmaAmount(fee['feeAmount']) : undefined;
    if (amount === undefined) return undefined;
    sum += amount;
  }
  return sum;
}

/** What a party of a transaction is known by, under this key. */
export function partyValue(party: JsonValue | undefined, key: string): string | null {
  const entries = Array.isArray(party) ? party.filter(isObject) : [];
  const value = entries.find((each) => each['key'] === key)?.['value'];
  return typeof value === 'string' ? value : null;
}
