import type { PayoutFailureCode } from '../payouts/payout.ts';
import type { RefundRefusal } from '../refunds/start-refund.ts';
import type { Session, SessionFailureCode } from '../session.ts';

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
  return status === 'failed' ? failureError(failureCode) : undefined;
}

const failures: Readonly<Record<SessionFailureCode | PayoutFailureCode, ConstructorParameters<typeof GsmaError>>> = {
  payer_declined: ['authorisation', 'requestDeclined', 'The debit party declined the request.'],
  balance_too_low: ['businessRule', 'insufficientFunds', 'The debit party has insufficient funds.'],
  wrong_code: ['authorisation', 'oneTimeCodeError', 'The code was wrong too many times.'],
  no_such_account: ['identification', 'identifierError', 'The credit party does not exist.'],
  account_blocked: ['businessRule', 'accountBlocked', 'The credit party is blocked.'],
  float_empty: ['businessRule', 'insufficientFunds', 'The debit party has insufficient funds.'],
  not_permitted: ['businessRule', 'incorrectState', 'The account does not permit this transaction.'],
};

/** Why a collection or payout failed, by the simulator's own code. */
export function failureError(code: SessionFailureCode | PayoutFailureCode | null): GsmaError {
  return new GsmaError(...failures[code ?? 'not_permitted']);
}

const reversalCodes: Readonly<Record<RefundRefusal, string>> = {
  refunds_not_supported: 'transactionTypeError',
  partial_not_supported: 'underPaymentNotAllowed',
  exceeds_refundable: 'overPaymentNotAllowed',
  not_refundable: 'incorrectState',
};

/** Why a reversal is refused, by the simulator's own code. */
export function reversalError(code: RefundRefusal, description: string): GsmaError {
  return new GsmaError('businessRule', reversalCodes[code], description);
}
