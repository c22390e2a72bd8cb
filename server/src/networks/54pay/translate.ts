import { AmountError, parseAmount } from '../../kit/money.ts';
import type { JsonObject, JsonValue } from '../../kit/strict-json.ts';
import type { CollectionResponse, FailureCode, NetworkHandles, NextAction, ProviderTransaction } from '../contract.ts';
import type { Reply } from '../http-client.ts';
import { isObject, isOneOf, refused, safeWord, unknown } from '../response-values.ts';
import type { PayinNetwork, PayinOptions } from './options.ts';

export interface PayinContext {
  options: PayinOptions;
  operatorCode: PayinNetwork['operatorCode'];
  reference: string;
}

/** What later calls need: what the payer was asked to do. */
const actionHandle = 'action';

/** A response to a collection, or that it has to be looked up: the provider has the reference already, or has accepted a step. */
export type PayinResponse = CollectionResponse | { state: 'look_up' };

const networkUnavailable = refused('network_unavailable', 'The network does not accept payments at the moment.');

/** Reads the response to a new collection. */
export function readPayin(reply: Reply, context: PayinContext): PayinResponse {
  if (reply.kind === 'not_sent') return networkUnavailable;
  const details = readDetails(reply, context);
  if ('state' in details) return details;
  if (details.responseCode === '06') {
    const meaning = failureOf(details, context);
    // Nothing was started, so there is nothing yet that could be missing, and no code was sent.
    const isOdd = meaning.state === 'not_found' || meaning.state === 'code_refused';
    return isOdd ? unknown('a failure that a new collection cannot have') : meaning;
  }
  if (details.responseCode !== '09') return unknown('the response code is not known');
  const nextAction = readAction(details.body, context);
  if (!nextAction) return unknown('what the payer must do is not known');
  // The provider returns no id of its own before the payment has ended.
  const handles = { [actionHandle]: writeAction(nextAction) };
  return { state: 'awaiting_payer', nextAction, networkReference: context.reference, handles };
}

/** Reads the response to the payer's code or confirmation. Whether it paid is looked up. */
export function readCompletion(reply: Reply, context: PayinContext): PayinResponse {
  const details = readDetails(reply, context);
  if ('state' in details) return details;
  const meaning = details.responseCode === '06' ? failureOf(details, context) : undefined;
  return meaning?.state === 'code_refused' ? meaning : { state: 'look_up' };
}

/**
 * Reads the response to a status query. A report does not repeat what the payer has to do, so it is what the handles of the
 * start say or, where its response was lost, what the operator's flow is documented to be.
 */
export function readStatus(reply: Reply, context: PayinContext, handles: NetworkHandles): CollectionResponse {
  if (reply.kind !== 'response') return unknown(reply.detail);
  if (isObject(reply.body) && 'responseDetails' in reply.body) {
    const details = readDetails(reply, context);
    if ('state' in details) return details;
    // A status query that fails says nothing of the payment, unless the provider does not know it.
    return failureOf(details, context).state === 'not_found' ? { state: 'not_found' } : unknown('the query failed');
  }
  if (reply.status !== 200 || !isObject(reply.body)) return unknown(`HTTP ${reply.status}`);
  const response = readReport(reply.body, context);
  const nextAction = storedAction(handles[actionHandle]) ?? documentedAction(context);
  if (response.state !== 'processing' || nextAction === undefined) return response;
  return { state: 'awaiting_payer', nextAction, networkReference: context.reference, handles };
}

interface Details {
  responseCode: JsonValue | undefined;
  failedReason: JsonValue | undefined;
  body: JsonObject;
}

function readDetails(reply: Reply, { reference }: PayinContext): Details | { state: 'unknown'; detail: string } {
  if (reply.kind !== 'response') return unknown(reply.detail);
  const { status, body } = reply;
  const details = isObject(body) ? body['responseDetails'] : undefined;
  if (status >= 500 || !isObject(body) || !isObject(details)) return unknown(`HTTP ${status}`);
  const named = body['transactionReference'] ?? reference;
  if (named !== reference) return unknown('the response is about another reference');
  return { responseCode: details['responseCode'], failedReason: details['failedReason'], body };
}

function failureOf({ failedReason }: Details, { options }: PayinContext): PayinResponse {
  const reason = typeof failedReason === 'string' ? failedReason.trim().toUpperCase() : '';
  const meaning = Object.hasOwn(options.failedReasons, reason) ? options.failedReasons[reason] : undefined;
  switch (meaning) {
    case undefined:
      return refused('refused_by_network', 'The network refused the payment. Nothing was charged.');
    case 'duplicate':
      return { state: 'look_up' };
    case 'not_found':
      return { state: 'not_found' };
    case 'code_refused':
      // The provider does not say how many tries are left; once none is, the payment has failed.
      return { state: 'code_refused', attemptsLeft: null };
    case 'configuration':
      return networkUnavailable;
    default:
      return refused(meaning, 'The network refused the payment. Nothing was charged.');
  }
}

// The documented length; the response names it too.
const codeLength = 6;

/** What the response asks for; where it asks for nothing, what the operator's flow is documented to be. */
function readAction(body: JsonObject, context: PayinContext): NextAction | undefined {
  const { redirectionRequired, otpIsRequired, lengthOfOtp } = body;
  if (redirectionRequired === true || context.operatorCode === 'GMWAV') {
    const urls = [body['paymentCompletionUrl'], body['redirectionUrl']];
    const url = urls.find((text) => typeof text === 'string' && text !== '');
    return typeof url === 'string' ? storedAction(url) : undefined;
  }
  if (otpIsRequired !== true) return documentedAction(context);
  const isLength = Number.isInteger(lengthOfOtp) && Number(lengthOfOtp) >= 1 && Number(lengthOfOtp) <= 12;
  return { type: 'enter_code', length: isLength ? Number(lengthOfOtp) : codeLength };
}

function documentedAction({ operatorCode }: PayinContext): NextAction | undefined {
  switch (operatorCode) {
    case 'GMWAV':
      return undefined;
    case 'GMAFR':
      return { type: 'approve_then_confirm' };
    case 'GMQMO':
      return { type: 'enter_code', length: codeLength };
  }
}

function writeAction(action: NextAction): string {
  if (action.type === 'open_url') return action.url;
  return action.type === 'enter_code' ? String(action.length) : action.type;
}

/** The action of a handle: a URL, which the payer's browser follows, the length of a code, or a confirmation. */
function storedAction(text: string | undefined): NextAction | undefined {
  if (text === undefined) return undefined;
  if (/^https?:\/\//.test(text)) return { type: 'open_url', url: text };
  if (/^\d{1,2}$/.test(text)) return { type: 'enter_code', length: Number(text) };
  return text === 'approve_then_confirm' ? { type: 'approve_then_confirm' } : undefined;
}

function readReport(report: JsonObject, context: PayinContext): CollectionResponse {
  if (report['merchant_reference'] !== context.reference) return unknown('the response is about another reference');
  const { status } = report;
  const word = typeof status === 'string' ? status.toUpperCase() : '';
  const { statuses } = context.options;
  const meaning = Object.hasOwn(statuses, word) ? statuses[word] : undefined;
  if (meaning === undefined) return unknown(`the status${safeWord(word.toLowerCase())} is not known`);
  if (meaning === 'pending') return { state: 'processing' };
  if (meaning !== 'succeeded' && meaning !== 'reversed') return refusedReport(meaning, report, context);
  const providerTransaction = readTransaction(report, context);
  return providerTransaction ? { state: meaning, providerTransaction } : unknown('what was paid is not as documented');
}

/** The report of a failure may say why, in the words of `failedReason`. */
function refusedReport(meaning: FailureCode, report: JsonObject, { options }: PayinContext): CollectionResponse {
  const { transaction_status: detail } = report;
  const reason = typeof detail === 'string' ? detail.trim().toUpperCase() : '';
  const known = Object.hasOwn(options.failedReasons, reason) ? options.failedReasons[reason] : undefined;
  const isFailure = known !== undefined && !isOneOf(['duplicate', 'not_found', 'code_refused', 'configuration'], known);
  return refused(isFailure ? known : meaning, 'The network reports that the payment failed.');
}

function readTransaction(report: JsonObject, { options }: PayinContext): ProviderTransaction | undefined {
  const { transaction_reference: transactionId } = report;
  const received = readAmount(report['amount_received']);
  const networkFeeMinor = readAmount(report['transaction_fee']);
  if (typeof transactionId !== 'string' || transactionId === '') return undefined;
  if (received === undefined || networkFeeMinor === undefined) return undefined;
  const amountMinor = options.amountReceived === 'net' ? received + networkFeeMinor : received;
  // Reports name no currency: an operator of one country collects in its own.
  const currency = report['transaction_currency'] ?? 'GMD';
  if (typeof currency !== 'string') return undefined;
  return { transactionId, networkReference: transactionId, amountMinor, currency, networkFeeMinor, payerNumber: null };
}

/** Amounts of the provider are JSON numbers, which the strict parser has checked to be exact. */
function readAmount(value: JsonValue | undefined): bigint | undefined {
  if (typeof value !== 'number' || value < 0) return undefined;
  try {
    return parseAmount(value);
  } catch (error) {
    if (error instanceof AmountError) return undefined;
    throw error;
  }
}
