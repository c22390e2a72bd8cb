/** An answer that refuses; `code` is the simulated networks' own word for it. */
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

/** What the simulated networks document; anything else is a mistake of theirs, whose outcome nobody knows. */
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
  /** There is nothing to pay out from; nothing was created. */
  float_empty: 422,
  /** This network gives nothing back; nothing was created. */
  refunds_not_supported: 422,
  /** This network gives back the whole amount or nothing; nothing was created. */
  partial_not_supported: 422,
  /** There is no collection of this account that was paid with this transaction; nothing was created. */
  not_refundable: 422,
  /** More than is left of the collection; nothing was created. */
  exceeds_refundable: 422,
  /** The network is down and nothing was created. */
  not_accepted: 503,
} as const;

/** A body or a parameter that is not taken; `field` is the place, empty for the whole body. */
export class RequestRefused extends Refusal {
  override name = 'RequestRefused';

  constructor(field: string, message: string) {
    super('invalid_request', message, { field });
  }
}
