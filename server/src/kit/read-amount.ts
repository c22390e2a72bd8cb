import { typedDigits } from './typed-digits.ts';

/** The amount that a payer typed, or why it is none: the name of the text that says so. */
export type TypedAmount = { amountMinor: bigint } | { problem: 'amount-missing' | 'amount-digits' | 'amount-zero' };

// Thirteen digits of dalasi exceed every amount limit.
const plain = /^(\d{1,13})(?:[.,](\d{1,2}))?$/;
// With spaces, the first group has at most two digits: 450 450 is rather the same amount typed twice.
const grouped = /^\d{1,3}(?:,\d{3})+(?:\.\d{1,2})?$|^\d{1,2}(?: \d{3})+(?:\.\d{1,2})?$/;

/**
 * Parses an amount as people write it, in bututs: `450`, `450.50`, `450,5`, `1,250`, `D 1 250.00`. A comma before three digits
 * separates thousands, as in Gambian prices; before one or two digits it is the decimal point.
 */
export function readAmount(text: string): TypedAmount {
  const typed = typedDigits(text)
    .trim()
    .replace(/^(?:D|GMD)\s*/i, '')
    .replace(/\s*GMD$/i, '')
    // The spaces between the groups of a number in French texts.
    .replaceAll(/[\u00a0\u202f]/g, ' ')
    // The decimal point and the separator of thousands that go with Arabic digits.
    .replaceAll('\u066b', '.')
    .replaceAll('\u066c', ',');
  if (typed === '') return { problem: 'amount-missing' };
  const [, whole, decimals = ''] = plain.exec(grouped.test(typed) ? typed.replaceAll(/[, ]/g, '') : typed) ?? [];
  if (whole === undefined) return { problem: 'amount-digits' };
  const amountMinor = BigInt(whole + decimals.padEnd(2, '0'));
  return amountMinor === 0n ? { problem: 'amount-zero' } : { amountMinor };
}
