/** An error response of the simulated networks, with their own `code`. */
export class Refusal extends Error {
  override name = 'Refusal';
  readonly statusCode: number;
  readonly code: RefusalCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: RefusalCode, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.code = code;
    this.statusCode = statusCodes[code];
    this.details = details;
  }
}

export type RefusalCode = keyof typeof statusCodes;

/** The documented errors; any other is a fault of the network, and the outcome is unknown. */
const statusCodes = {
  /** Nothing was created. */
  invalid_request: 400,
  /** Nothing was created. */
  invalid_credential: 401,
  not_found: 404,
  /** The reference belongs to another request. */
  reference_conflict: 409,
  no_code_expected: 409,
  /** With `attempts_left`; the session is still open. */
  wrong_code: 422,
  /** The float is empty; nothing was created. */
  float_empty: 422,
  /** This network does not refund; nothing was created. */
  refunds_not_supported: 422,
  /** This network refunds the whole amount only; nothing was created. */
  partial_not_supported: 422,
  /** No collection of this account was paid with this transaction; nothing was created. */
  not_refundable: 422,
  /** The amount exceeds what is left of the collection; nothing was created. */
  exceeds_refundable: 422,
  /** The network is down and nothing was created. */
  not_accepted: 503,
} as const;

/** A body or parameter that is not valid; `field` names it, empty for the whole body. */
export class RequestRefused extends Refusal {
  override name = 'RequestRefused';

  constructor(field: string, message: string) {
    super('invalid_request', message, { field });
  }
}
