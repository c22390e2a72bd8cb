import { PhoneNumberError } from '../server/src/kit/phone-number.ts';
import type { SchemaCheck } from '../server/src/kit/schema-check.ts';
import { canonicalNumber } from './phone-line.ts';
import { accountLength } from './record-id.ts';
import { RequestRefused } from './refusal.ts';

// The merchant's short id, and then what makes the reference unguessable.
export const referencePattern = `^[0-9A-Za-z]{${accountLength}}[0-9A-Za-z_-]{8,92}$`;
// Dot, zero to two decimals, no leading zero: what real networks of the country document.
export const amountPattern = '^(?:0|[1-9][0-9]{0,11})(?:\\.[0-9]{1,2})?$';
export const callbackUrlPattern = '^https?://';
export const urlLengthMax = 2_048;
export const numberLengthMax = 40;
export const descriptionLengthMax = 255;

const reference = new RegExp(referencePattern);

/** One's own reference, out of an address. Throws RequestRefused. */
export function readReference(value: unknown): string {
  if (typeof value !== 'string' || !reference.test(value))
    throw new RequestRefused('reference', 'Say which reference.');
  return value;
}

/** What a pattern alone does not say of the fields that every order has. Throws RequestRefused. */
export function checkRequest(account: string, body: { reference: string; amount: string; callback_url: string }): void {
  if (!body.reference.startsWith(account)) {
    throw new RequestRefused('reference', 'The reference begins with another account than the credential.');
  }
  if (amountFromWire(body.amount) === 0n) throw new RequestRefused('amount', 'The amount must be above zero.');
  if (!URL.canParse(body.callback_url)) throw new RequestRefused('callback_url', 'This is not a URL.');
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

/** The pattern has been checked. */
export function amountFromWire(text: string): bigint {
  const [whole = '', decimals = ''] = text.split('.');
  return BigInt(whole + decimals.padEnd(2, '0'));
}

/** What is wrong with a body, by its first fault; fields that are not documented are named before all others. */
export function bodyRefusal(errors: SchemaCheck['errors']): RequestRefused {
  const names = (errors ?? []).flatMap(({ keyword, params }) =>
    keyword === 'additionalProperties' ? [String(params['additionalProperty'])] : [],
  );
  if (names.length > 0) {
    return new RequestRefused(names[0] ?? '', `Extra fields are not permitted: ${names.join(', ').slice(0, 200)}.`);
  }
  const first = errors?.[0];
  return new RequestRefused(first?.instancePath.slice(1) ?? '', `The value ${first?.message ?? 'is not understood'}.`);
}
