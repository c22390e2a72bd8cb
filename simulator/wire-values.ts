import { accountLength } from './record-id.ts';

// The merchant's short id, then a random part that makes the reference unguessable.
export const referencePattern = `^[0-9A-Za-z]{${accountLength}}[0-9A-Za-z_-]{8,92}$`;
// A dot, zero to two decimals, no leading zero: as real networks in The Gambia document.
export const amountPattern = '^(?:0|[1-9][0-9]{0,11})(?:\\.[0-9]{1,2})?$';
export const callbackUrlPattern = '^https?://';
export const urlLengthMax = 2_048;
export const numberLengthMax = 40;

/** Bututs of an amount that matches `amountPattern`. */
export function amountFromWire(text: string): bigint {
  const [whole = '', decimals = ''] = text.split('.');
  return BigInt(whole + decimals.padEnd(2, '0'));
}
