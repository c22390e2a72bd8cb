import { PhoneNumberError } from '../server/src/kit/phone-number.ts';
import type { SchemaCheck } from '../server/src/api/schema-check.ts';
import { canonicalNumber } from './phone-line.ts';
import { accountLength } from './record-id.ts';
import { RequestRefused } from './refusal.ts';

// The merchant's short id, then a random part that makes the reference unguessable.
export const referencePattern = `^[0-9A-Za-z]{${accountLength}}[0-9A-Za-z_-]{8,92}$`;
// A dot, zero to two decimals, no leading zero: as real networks in The Gambia document.
export const amountPattern = '^(?:0|[1-9][0-9]{0,11})(?:\\.[0-9]{1,2})?$';
export const callbackUrlPattern = '^https?://';
export const urlLengthMax = 2_048;
export const numberLengthMax = 40;
export const descriptionLengthMax = 255;

const reference = new RegExp(referencePattern);

/** The caller's reference in the query string. Throws RequestRefused. */
export function readReference(value: unknown): string {
  if (typeof value !== 'string' || !reference.test(value)) {
    throw new RequestRefused('reference', 'The reference is missing or not valid.');
  }
  return value;
}

/** Checks the common fields beyond their patterns. Throws RequestRefused. */
export function checkRequest(account: string, body: { reference: string; amount: string; callback_url: string }): void {
  if (!body.reference.startsWith(account)) {
    throw new RequestRefused('reference', 'The reference must begin with the account of the credential.');
  }
  if (amountFromWire(body.amount) === 0n) throw new RequestRefused('amount', 'The amount must be above zero.');
  if (!URL.canParse(body.callback_url)) throw new RequestRefused('callback_url', 'The value is not a valid URL.');
}

/** The canonical form of the number in a field. Throws RequestRefused. */
export function readNumber(field: string, text: string): string {
  try {
    return canonicalNumber(text);
  } catch (error) {
    if (error instanceof PhoneNumberError) throw new RequestRefused(field, error.message);
    throw error;
  }
}

/** Bututs of an amount that matches `amountPattern`. */
export function amountFromWire(text: string): bigint {
  const [whole = '', decimals = ''] = text.split('.');
  return BigInt(whole + decimals.padEnd(2, '0'));
}

/** The first error of a body; undocumented fields come before all other errors. */
export function bodyRefusal(errors: SchemaCheck['errors']): RequestRefused {
  const names = (errors ?? []).flatMap(({ keyword, params }) =>
    keyword === 'additionalProperties' ? [String(params['additionalProperty'])] : [],
  );
  if (names.length > 0) {
    return new RequestRefused(names[0] ?? '', `Extra fields are not permitted: ${names.join(', ').slice(0, 200)}.`);
  }
  const first = errors?.[0];
  return new RequestRefused(first?.instancePath.slice(1) ?? '', `The value ${first?.message ?? 'is not valid'}.`);
}
