/** What a payer typed as an amount. */
export type TypedAmount = { amountMinor: bigint } | { problem: string };

// Fifteen digits are more dalasi than there are, and stay exact wherever they go.
const plain = /^(\d{1,13})(?:[.,](\d{1,2}))?$/;
// One number: two that stand side by side, such as 450 450, are thousands only where the first is short.
const grouped = /^\d{1,3}(?:,\d{3})+(?:\.\d{1,2})?$|^\d{1,2}(?: \d{3})+(?:\.\d{1,2})?$/;

/**
 * Bututs of an amount as people write it: `450`, `450.50`, `450,5`, `1,250`, `D 1 250.00`. A comma before three digits
 * parts thousands, as prices are written here; before one or two it is the point.
 */
export function readAmount(text: string): TypedAmount {
  const typed = text
    .trim()
    .replace(/^(?:D|GMD)\s*/i, '')
    .replace(/\s*GMD$/i, '')
    .replaceAll('\u00a0', ' ');
  if (typed === '') return { problem: 'Enter the amount to pay.' };
  const [, whole, decimals = ''] = plain.exec(grouped.test(typed) ? typed.replaceAll(/[, ]/g, '') : typed) ?? [];
  if (whole === undefined) return { problem: 'Write the amount in dalasi with digits, for example 450 or 450.50.' };
  const amountMinor = BigInt(whole + decimals.padEnd(2, '0'));
  return amountMinor === 0n ? { problem: 'Enter an amount above zero.' } : { amountMinor };
}
