import { searchedNumbers } from '../../customers/identities.ts';
import { substringPattern } from '../../kit/list-filter.ts';
import type { ListFilter } from '../../kit/list-filter.ts';

/**
 * Intents whose payer's name or email address holds the term, capitals or not, or whose number does: a number is kept as
 * it was sent, so its digits are compared with the digits of every number that the term may mean.
 */
export function payerFilter(term: string): ListFilter {
  return {
    name: 'payer',
    text: (next) => {
      const [text, numbers] = [next(), next()];
      const sent = ['customer_name', 'customer_email', 'customer_phone'].map((column) => `${column} ILIKE ${text}`);
      const digits = String.raw`regexp_replace(customer_phone, '\D', '', 'g')`;
      return `(${sent.join(' OR ')} OR ${digits} LIKE ANY (${numbers}::text[]))`;
    },
    values: [substringPattern(term), searchedNumbers(term).map(nationalDigits).map(substringPattern)],
  };
}

/** Without what leads a Gambian number, which may not have been written. */
function nationalDigits(number: string): string {
  return number.replace(/^\+(?:220)?/, '');
}
