import { isUuid } from '../kit/ids.ts';
import { numberOrNull, parseInternationalNumber, parsePhoneNumber } from '../kit/phone-number.ts';
import { readAmount } from '../kit/read-amount.ts';

/** What somebody typed into a search field, by what it can only be. Each but `text` is found by an index. */
export type TypedSearch =
  | { kind: 'id'; id: string }
  /** Of a phone: E.164 in the new form, and every way in which its digits may have been sent. */
  | { kind: 'number'; canonical: string; digits: readonly string[] }
  | { kind: 'amount'; amountMinor: bigint }
  /** A part of a text; with an amount where it may be that too. */
  | { kind: 'text'; text: string; amountMinor: bigint | null };

// A search reads each row for it, and a longer one is no search.
const lengthMax = 100;
// Fewer digits are rather an amount, or a part of a title.
const numberDigitsMin = 7;

export function readTypedSearch(typed: string): TypedSearch {
  const text = typed.trim().slice(0, lengthMax);
  if (isUuid(text)) return { kind: 'id', id: text.toLowerCase() };
  const number = numberOf(text);
  if (number) return number;
  const amount = readAmount(text);
  const amountMinor = 'amountMinor' in amount ? amount.amountMinor : null;
  // A comma, a decimal point or a D makes it an amount; digits alone may stand in a text.
  return amountMinor !== null && /[^\d]/.test(text)
    ? { kind: 'amount', amountMinor }
    : { kind: 'text', text, amountMinor };
}

function numberOf(text: string): TypedSearch | null {
  const digits = text.replaceAll(/\D/g, '');
  if (digits.length < numberDigitsMin || /[^\d\s+()-]/.test(text)) return null;
  const canonical = numberOrNull(() => parseInternationalNumber(text, { strict: false }));
  if (canonical === null) return null;
  const forms = canonical.startsWith('+220')
    ? [canonical, ...parsePhoneNumber(text, { strict: false }).aliases].flatMap(gambianForms)
    : [canonical.slice(1), `00${canonical.slice(1)}`];
  return { kind: 'number', canonical, digits: forms };
}

function gambianForms(number: string): string[] {
  const national = number.slice('+220'.length);
  return [national, `220${national}`, `00220${national}`];
}
