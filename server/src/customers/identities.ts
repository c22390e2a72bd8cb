import { createHash } from 'node:crypto';
import { canonicalContactNumber } from '../kit/contact-number.ts';
import { PhoneNumberError, parseInternationalNumber, parsePhoneNumber } from '../kit/phone-number.ts';
import type { PhoneNumberOptions } from '../kit/phone-number.ts';
import type { Customer } from './customer.ts';

const bucketsMax = 256;
// Fewer digits are in every other number.
const searchedDigitsMin = 3;

/**
 * What two records of one person share: the email address, whatever its capitals, and the numbers of the line. An email
 * address has an @ and a number begins with +, so one is never taken for the other.
 */
export function identitiesOf({ email, phone }: Pick<Customer, 'email' | 'phone'>): string[] {
  return [
    ...(email === null ? [] : [email.toLowerCase()]),
    // It was checked by the rule of its environment when it was sent.
    ...(phone === null ? [] : numbersOf(phone, { strict: false })),
  ];
}

/** The number as it was sent: Gambian in any usual form, or foreign with +. Throws AppError naming `path`. */
export function checkPhone(phone: string, rule: { strict: boolean; path: string }): string {
  canonicalContactNumber(phone, rule);
  return phone;
}

/** The rows to lock before a customer with these identities is looked for, in the one order that everybody keeps. */
export function bucketsOf(identities: readonly string[]): number[] {
  const buckets = identities.map(
    (identity) => createHash('sha256').update(identity).digest().readUInt32BE() % bucketsMax,
  );
  return [...new Set(buckets)].toSorted((left, right) => left - right);
}

/** The numbers that a search may mean, whole or in part; none where it is not for a number. */
export function searchedNumbers(term: string): string[] {
  const digits = term.replaceAll(/\D/g, '');
  if (digits.length < searchedDigitsMin || /[^\d\s+().-]/.test(term)) return [];
  try {
    return [digits, ...numbersOf(term, { strict: false })];
  } catch (error) {
    if (error instanceof PhoneNumberError) return [digits];
    throw error;
  }
}

/** Every number of the line, E.164. */
function numbersOf(phone: string, options: PhoneNumberOptions): string[] {
  const canonical = parseInternationalNumber(phone, options);
  if (!canonical.startsWith('+220')) return [canonical];
  return [canonical, ...parsePhoneNumber(phone, options).aliases];
}
