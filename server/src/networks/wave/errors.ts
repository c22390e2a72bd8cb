import type { JsonValue } from '../../kit/strict-json.ts';
import type { Failure } from '../contract.ts';
import type { Reply } from '../http-client.ts';
import { isObject, refused } from '../response-values.ts';

type Response = Extract<Reply, { kind: 'response' }>;

/** Wave's code of an error. The documents and their examples show four shapes of the body. */
export function waveErrorCode(body: JsonValue | undefined): string | undefined {
  if (!isObject(body)) return undefined;
  const { code, error, error_code: errorCode } = body;
  const nested = isObject(error) ? error['code'] : error;
  return [code, nested, errorCode].find((candidate) => typeof candidate === 'string');
}

/**
 * What an error says of the request, whatever it asked for. `credential`: our key or wallet may not do this. `busy`: too many
 * requests. `invalid`: the request breaks a rule. All three are documented to have had no effect.
 */
export type WaveError = 'credential' | 'busy' | 'invalid' | 'not_found' | 'other';

export function waveError({ status, body }: Response): WaveError {
  const code = waveErrorCode(body);
  // A page of a proxy has no code.
  if (code === undefined) return 'other';
  if (status === 401 || status === 403) return 'credential';
  if (status === 429) return 'busy';
  if (status === 404) return /^(?:[a-z-]+-)?not[-_]found$/.test(code) ? 'not_found' : 'other';
  return (status === 400 || status === 422) && invalidCodes.has(code) ? 'invalid' : 'other';
}

const invalidCodes: ReadonlySet<string> = new Set([
  'request-not-json',
  'request-parsing-error',
  'request-validation-error',
  'country-mismatch',
  'currency-mismatch',
  'aggregated-merchant-required',
  'invalid-aggregated-merchant-id',
]);

/** Why a payer's attempt failed; undefined for a code that is not documented. */
export function attemptFailure(code: JsonValue | undefined): { state: 'refused'; failure: Failure } | undefined {
  switch (code) {
    case 'insufficient-funds':
      return refused('insufficient_funds', 'There is not enough money in the wallet.');
    case 'blocked-account':
      return refused('account_blocked', 'The wallet is blocked.');
    case 'kyb-limits-exceeded':
      return refused('limit_exceeded', 'The payment exceeds a limit of the business’s wallet.');
    case 'payer-mobile-mismatch':
      return refused('refused_by_network', 'The payer used a wallet with another number.');
    case 'cross-border-payment-not-allowed':
      return refused('refused_by_network', 'The network does not allow payments from another country.');
    case 'customer-age-restricted':
      return refused('refused_by_network', 'The network does not allow this payer to pay for this.');
    case 'payment-failure':
      return refused('refused_by_network', 'The network refused the payment.');
    default:
      return undefined;
  }
}

/** Why a payout was refused; undefined for a code that is not documented as final. */
export function payoutFailure(code: JsonValue | undefined): { state: 'refused'; failure: Failure } | undefined {
  switch (code) {
    case 'recipient-account-inactive':
      return refused('account_not_found', 'The network has no active account with this number.');
    case 'recipient-account-blocked':
      return refused('account_blocked', 'The account of this number is blocked and cannot receive money.');
    case 'recipient-limit-exceeded':
      return refused('limit_exceeded', 'The amount exceeds a limit of the account with this number.');
    case 'recipient-minor':
      return refused('refused_by_network', 'The network does not pay out to this person.');
    default:
      return undefined;
  }
}
