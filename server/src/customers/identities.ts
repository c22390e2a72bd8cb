import { createHash } from 'node:crypto';
import { canonicalContactNumber } from '../api/field-values.ts';
import {
  numberOrNull,
  parseInternationalNumber,
  parsePhoneNumber,
  type PhoneNumberOptions,
} from '../kit/phone-number.ts';
import type { Customer } from './customer.ts';

const bucketsMax = 256;
// Fewer digits match nearly every number.
const searchedDigitsMin = 3;

/**
 * The identities by which two records of one person match: the email address in lower case, and every form of the phone
 * number. An email address has an @ and a number begins with +, so they never collide.
 */
export function identitiesOf({ email, phone }: Pick<Customer, 'email' | 'phone'>): string[] {
  return [
    ...(email === null ? [] : [email.toLowerCase()]),
    // The number was checked by the rule of its environment when it was sent.
    ...(phone === null ? [] : numbersOf(phone, { strict: false })),
  ];
}

/** The number as it was sent: Gambian in any usual form, or foreign with +. Throws AppError naming `path`. */
export function checkPhone(phone: string, rule: { strict: boolean; path: string }): string {
  canonicalContactNumber(phone, rule);
  return phone;
}

/** The buckets to lock before a search for a customer with these identities, in the order of locks. */
export function bucketsOf(identities: readonly string[]): number[] {
  const buckets = identities.map(
    (identity) => createHash('sha256').update(identity).digest().readUInt32BE() % bucketsMax,
  );
  return [...new Set(buckets)].toSorted((left, right) => left - right);
}

/** The numbers, or parts of numbers, that a search term can match; empty where it is no number. */
export function searchedNumbers(term: string): string[] {
  const digits = term.replaceAll(/\D/g, '');
  if (digits.length < searchedDigitsMin || /[^\d\s+().-]/.test(term)) return [];
  return [digits, ...(numberOrNull(() => numbersOf(term, { strict: false })) ?? [])];
}

/** Every form of the number, E.164: a Gambian line has a 7-digit and a 9-digit number. */
function numbersOf(phone: string, options: PhoneNumberOptions): string[] {
  const canonical = parseInternationalNumber(phone, options);
  if (!canonical.startsWith('+220')) return [canonical];
  return [canonical, ...parsePhoneNumber(phone, options).aliases];
}
