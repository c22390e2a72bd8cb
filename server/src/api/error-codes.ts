import type { OverloadCode, overloadStatuses } from '../kit/public-error.ts';

/**
 * Every error code of the API, with its HTTP status and the heading of its page in docs/errors. A code never changes its
 * meaning; a new situation gets a new code. `stored` marks refusals that follow from the state of the records rather than from
 * the form of the request: an idempotency key remembers them as it remembers a success.
 */
export const errorCodes = {
  invalid_json: { status: 400, title: 'The body is not valid JSON' },
  invalid_request: { status: 400, title: 'A field is missing or malformed' },
  unknown_field: { status: 400, title: 'Unknown field' },
  amount_out_of_bounds: { status: 400, title: 'The amount is too small or too large' },
  currency_not_supported: { status: 400, title: 'The currency is not supported' },
  network_not_available: { status: 400, title: 'The network is not available', stored: true },
  account_number_invalid: { status: 400, title: 'Invalid account number' },
  url_not_allowed: { status: 400, title: 'The URL is not allowed' },
  idempotency_key_invalid: { status: 400, title: 'The idempotency key is missing or malformed' },
  insufficient_balance: { status: 400, title: 'Insufficient balance', stored: true },
  limit_exceeded: { status: 400, title: 'Transfer limit exceeded', stored: true },
  sub_account_paused: { status: 400, title: 'The sub-account is paused', stored: true },
  sub_account_in_use: { status: 400, title: 'The sub-account is in use', stored: true },
  balance_below_minimum: { status: 400, title: 'The balance is below the payout minimum', stored: true },
  refund_not_possible: { status: 400, title: 'The payment cannot be refunded', stored: true },
  split_exceeds_amount: { status: 400, title: 'The shares exceed the amount', stored: true },
  api_key_missing: { status: 401, title: 'The API key is missing' },
  api_key_invalid: { status: 401, title: 'The API key is invalid' },
  callback_signature_invalid: { status: 401, title: 'The callback signature is invalid' },
  scope_missing: { status: 403, title: 'The API key lacks the scope' },
  address_not_allowed: { status: 403, title: 'The API key is not allowed from this address' },
  not_found: { status: 404, title: 'Not found' },
  no_charge_yet: { status: 404, title: 'The payment intent has no charge yet' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  request_timeout: { status: 408, title: 'Request timeout' },
  idempotency_in_progress: { status: 409, title: 'The first request with this key is in progress' },
  state_conflict: { status: 409, title: 'The current state does not allow this' },
  merchant_owes: { status: 409, title: 'The merchant owes money' },
  body_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  idempotency_key_reused: { status: 422, title: 'The idempotency key was used for a different request' },
  rate_limited: { status: 429, title: 'Too many requests' },
  headers_too_large: { status: 431, title: 'The headers are too large' },
  internal_error: { status: 500, title: 'Internal error' },
  unavailable: { status: 503, title: 'The service is temporarily unavailable' },
} as const satisfies Record<string, { status: number; title: string; stored?: true }> & OverloadStatuses;

/** What the kit refuses with has the same status there. */
type OverloadStatuses = { [Code in OverloadCode]: { status: (typeof overloadStatuses)[Code]; title: string } };

export type ErrorCode = keyof typeof errorCodes;
