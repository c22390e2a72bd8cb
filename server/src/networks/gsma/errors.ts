import type { JsonValue } from '../../kit/strict-json.ts';
import type { FailureCode, UnavailableReason } from '../contract.ts';
import { isObject, isOneOf } from '../response-values.ts';
import type { GsmaConfiguration } from './configuration.ts';

/** What an error object means. */
export type ErrorMeaning =
  | { kind: 'refused'; code: FailureCode; reason: string }
  /** Nothing was done, for a temporary reason. */
  | { kind: 'not_accepted'; reason: UnavailableReason }
  /** The provider has the request already. */
  | { kind: 'duplicate' }
  | { kind: 'unknown'; detail: string };

export interface ErrorContext {
  configuration: GsmaConfiguration;
  /** Who pays: the payer of a collection, or we. */
  payer: 'them' | 'us';
  /** Whether it is the response to the request, or how an accepted request ended. */
  stage: 'request' | 'end';
}

const categories = [
  'businessRule',
  'validation',
  'authorisation',
  'identification',
  'internal',
  'serviceUnavailable',
] as const;
type Category = (typeof categories)[number];

/** The HTTP status that the API documents for each category; an error with another one is from something in between. */
const statusOf: Readonly<Record<Category, number>> = {
  businessRule: 400,
  validation: 400,
  authorisation: 401,
  identification: 404,
  internal: 500,
  serviceUnavailable: 503,
};

/** An error object as documented. */
export interface GsmaError {
  category: Category;
  code: string;
  /** The text has two spellings in the provider's documents. For the log. */
  description: string | null;
}

export function readError(body: JsonValue | undefined): GsmaError | undefined {
  if (!isObject(body)) return undefined;
  const { errorCategory: category, errorCode: code } = body;
  if (!isOneOf(categories, category) || typeof code !== 'string' || !/^[A-Za-z]{1,64}$/.test(code)) return undefined;
  const description = body['errorDescription'] ?? body['errordescription'];
  return { category, code, description: typeof description === 'string' ? description : null };
}

/** Whether the error object belongs to this HTTP status. */
export function hasDocumentedStatus({ category }: GsmaError, status: number): boolean {
  return statusOf[category] === status;
}

const unavailable = { kind: 'not_accepted', reason: 'network_unavailable' } as const;

export function meaningOf(error: GsmaError, context: ErrorContext): ErrorMeaning {
  const { errors } = context.configuration;
  const own = Object.hasOwn(errors, error.code) ? errors[error.code] : undefined;
  if (own !== undefined) return refusedAs(own);
  switch (error.category) {
    case 'businessRule':
      return businessRule(error, context);
    case 'validation':
      return refusedAs('refused_by_network');
    case 'authorisation':
      if (error.code === 'requestDeclined') return refusedAs('declined_by_payer');
      // Our credential's fault and not the request's: it can be sent once the credential is valid.
      return context.stage === 'request' ? unavailable : refusedAs('refused_by_network');
    case 'identification':
      return refusedAs('account_not_found');
    case 'internal':
      // The provider may have done it before it failed; a request that it reports as failed has ended.
      return context.stage === 'request'
        ? { kind: 'unknown', detail: `error ${error.code}` }
        : refusedAs('refused_by_network');
    case 'serviceUnavailable':
      return context.stage === 'request' ? unavailable : refusedAs('network_unavailable');
  }
}

function businessRule({ code }: GsmaError, { payer, stage }: ErrorContext): ErrorMeaning {
  if (code === 'duplicateRequest') return { kind: 'duplicate' };
  if (code === 'rateLimitError') return stage === 'request' ? unavailable : refusedAs('network_unavailable');
  if (code === 'insufficientFunds') {
    if (payer === 'them') return refusedAs('insufficient_funds');
    return stage === 'request' ? { kind: 'not_accepted', reason: 'float_empty' } : refusedAs('refused_by_network');
  }
  if (isLimit.test(code)) return refusedAs('limit_exceeded');
  if (isOneOf(finalRules, code)) return refusedAs('refused_by_network');
  return { kind: 'unknown', detail: `the error code ${code} is not known` };
}

const isLimit =
  /^(?:(?:daily|weekly|monthly)(?:Volume|Value)LimitExceeded|accountMaxTotal[A-Za-z]*|lessThanTransactionMinValue|greaterThanTransactionMaxValue|maxBalanceExceeded)$/;

const finalRules = [
  'samePartiesError',
  'incorrectState',
  'underPaymentNotAllowed',
  'overPaymentNotAllowed',
  'transactionTypeError',
  'noMandateAuthority',
  'quoteHasExpired',
] as const;

const reasons: Readonly<Record<FailureCode, string>> = {
  declined_by_payer: 'The payer declined the payment.',
  insufficient_funds: 'There is not enough money in the wallet.',
  limit_exceeded: 'The amount exceeds a limit of the wallet.',
  account_not_found: 'The network has no account with this number.',
  account_blocked: 'The account of this number is blocked.',
  code_wrong: 'The code was wrong too many times.',
  expired: 'The payment was not approved in time.',
  cancelled: 'The payment was cancelled before it was approved.',
  network_unavailable: 'The network does not accept payments at the moment. No money was moved.',
  refused_by_network: 'The network refused the request. No money was moved.',
};

export function refusedAs(code: FailureCode): { kind: 'refused'; code: FailureCode; reason: string } {
  return { kind: 'refused', code, reason: reasons[code] };
}
