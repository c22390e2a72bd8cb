import { readTypedSearch, type TypedSearch } from '../api/typed-search.ts';

/** What somebody in the shop typed into the search of payments, by what it can only be. Each but `text` is found by an index. */
export type PaymentSearch =
  | TypedSearch
  /** `TX-20261122-073615-HX4NDCCN`, as receipts and the payer's messages show it. */
  | { kind: 'reference'; reference: string }
  /** The beginning of one: of a day, or of a minute. */
  | { kind: 'reference_start'; start: string }
  /** The end of such a reference, of an attempt of this week: all of it, or the four characters that a counter shows. */
  | { kind: 'receipt'; code: string; text: string };

/** How far back a receipt's code is looked up: it is short, and in a shop it is of a payment of these days. */
export const receiptCodeDays = 7;

const wholeReference = /^TX-\d{8}-\d{6}-\w{8}$/i;
const receiptCode = /^[2-9A-HJ-NP-Z]{8}$/i;

export function paymentSearchOf(typed: string): PaymentSearch {
  const text = typed.trim();
  if (wholeReference.test(text)) return { kind: 'reference', reference: text.toUpperCase() };
  if (/^TX-\S+$/i.test(text)) return { kind: 'reference_start', start: text.toUpperCase() };
  const search = readTypedSearch(text);
  return search.kind === 'text' && receiptCode.test(text)
    ? { kind: 'receipt', code: text.toUpperCase(), text }
    : search;
}
