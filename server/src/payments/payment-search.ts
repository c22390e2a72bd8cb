import { isUuid } from '../kit/ids.ts';
import { parseInternationalNumber, parsePhoneNumber, PhoneNumberError } from '../kit/phone-number.ts';

/** What somebody in the shop typed into the search of payments, by what it can only be. Each but `text` is found by an index. */
export type PaymentSearch =
  | { kind: 'id'; id: string }
  /** `TX-20261122-073615-HX4NDCCN`, as receipts and the payer's messages show it. */
  | { kind: 'reference'; reference: string }
  /** The end of such a reference, of an attempt of this week. */
  | { kind: 'receipt'; code: string; text: string }
  /** A payer's number: E.164 in the new form, and every way in which its digits may have been sent. */
  | { kind: 'number'; canonical: string; digits: readonly string[] }
  | { kind: 'amount'; amountMinor: bigint }
  /** A part of a title, a name or an e-mail address; with an amount where it may be that too. */
  | { kind: 'text'; text: string; amountMinor: bigint | null };

/** How far back a receipt's code is looked up: it is short, and in a shop it is of a payment of these days. */
export const receiptCodeDays = 7;

// Fewer digits are rather an amount, or a part of a title.
const numberDigitsMin = 7;
const receiptCode = /^[2-9A-HJ-NP-Z]{8}$/i;

/** `amountMinor` is the term as an amount, null where it is none. */
export function paymentSearchOf(term: string, amountMinor: bigint | null): PaymentSearch {
  const text = term.trim();
  if (isUuid(text)) return { kind: 'id', id: text.toLowerCase() };
  if (/^TX-\S+$/i.test(text)) return { kind: 'reference', reference: text.toUpperCase() };
  const number = numberOf(text);
  if (number) return number;
  if (amountMinor !== null && /[^\d]/.test(text)) return { kind: 'amount', amountMinor };
  if (receiptCode.test(text)) return { kind: 'receipt', code: text.toUpperCase(), text };
  return { kind: 'text', text, amountMinor };
}

function numberOf(text: string): PaymentSearch | null {
  const digits = text.replaceAll(/\D/g, '');
  // A comma, a decimal point or a D makes it an amount.
  if (digits.length < numberDigitsMin || /[^\d\s+()-]/.test(text)) return null;
  try {
    const canonical = parseInternationalNumber(text, { strict: false });
    const forms = canonical.startsWith('+220')
      ? [canonical, ...parsePhoneNumber(text, { strict: false }).aliases].flatMap(gambianForms)
      : [canonical.slice(1), `00${canonical.slice(1)}`];
    return { kind: 'number', canonical, digits: forms };
  } catch (error) {
    if (error instanceof PhoneNumberError) return null;
    throw error;
  }
}

function gambianForms(number: string): string[] {
  const national = number.slice('+220'.length);
  return [national, `220${national}`, `00220${national}`];
}
