import type { PayoutFailureCode } from '../payouts/payout.ts';
import type { RefundRefusal } from '../refunds/start-refund.ts';
import type { Session } from '../session.ts';

// docs/networks.md, "GSMA Mobile Money API". Codes in the second group are this provider's own, as the API allows.

/** The API's categories, each with its HTTP status. */
const statuses = {
  businessRule: 400,
  validation: 400,
  authorisation: 401,
  identification: 404,
  internal: 500,
  serviceUnavailable: 503,
} as const;

export type ErrorCategory = keyof typeof statuses;

/** An error object of the API: what a request is refused with, or how an accepted one failed. */
export class GsmaError extends Error {
  override name = 'GsmaError';
  readonly category: ErrorCategory;
  readonly code: string;

  constructor(category: ErrorCategory, code: string, description: string) {
    super(description);
    this.category = category;
    this.code = code;
  }

  get statusCode(): number {
    return statuses[this.category];
  }

  body(at: Date): Record<string, string> {
    const { category, code, message } = this;
    return {
      errorCategory: category,
      errorCode: code,
      errorDescription: message,
      errorDateTime: at.toISOString(),
    };
  }
}

export function notFound(what: string): GsmaError {
  return new GsmaError('identification', 'identifierError', `${what} not found.`);
}

export function duplicateRequest(): GsmaError {
  return new GsmaError('businessRule', 'duplicateRequest', 'A request with this X-CorrelationID was accepted before.');
}

/** Why a collection failed; undefined while it has not. */
export function sessionError({ status, failureCode }: Pick<Session, 'status' | 'failureCode'>): GsmaError | undefined {
  if (status === 'expired') {
    return new GsmaError('businessRule', 'requestExpired', 'The debit party did not respond in time.');
  }
  if (status === 'cancelled') return new GsmaError('authorisation', 'requestDeclined', 'The request was withdrawn.');
  if (status !== 'failed') return undefined;
  switch (failureCode) {
    case 'payer_declined':
      return new GsmaError('authorisation', 'requestDeclined', 'The debit party declined the request.');
    case 'balance_too_low':
      return new GsmaError('businessRule', 'insufficientFunds', 'The debit party has insufficient funds.');
    case 'wrong_code':
      return new GsmaError('authorisation', 'oneTimeCodeError', 'The code was wrong too many times.');
    case 'not_permitted':
    case null:
      return new GsmaError('businessRule', 'incorrectState', 'The account does not permit this transaction.');
  }
}

export function payoutError(code: PayoutFailureCode | null): GsmaError {
  switch (code) {
    case 'no_such_account':
      return new GsmaError('identification', 'identifierError', 'The credit party does not exist.');
    case 'account_blocked':
      return new GsmaError('businessRule', 'accountBlocked', 'The credit party is blocked.');
    case 'float_empty':
      return new GsmaError('businessRule', 'insufficientFunds', 'The debit party has insufficient funds.');
    case 'not_permitted':
    case null:
      return new GsmaError('businessRule', 'incorrectState', 'The account does not permit this transaction.');
  }
}

/** Why a reversal is refused, by the simulator's own code. */
export function reversalError(code: RefundRefusal, description: string): GsmaError {
  switch (code) {
    case 'refunds_not_supported':
      return new GsmaError('businessRule', 'transactionTypeError', description);
    case 'partial_not_supported':
      return new GsmaError('businessRule', 'underPaymentNotAllowed', description);
    case 'exceeds_refundable':
      return new GsmaError('businessRule', 'overPaymentNotAllowed', description);
    case 'not_refundable':
      return new GsmaError('businessRule', 'incorrectState', description);
  }
}
