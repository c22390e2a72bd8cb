import { parseInternationalNumber } from '../server/src/kit/phone-number.ts';

/** One number at one network for one account: the scope of an outage and of a float. */
export interface PhoneLine {
  account: string;
  network: string;
  /** In any usual form. */
  number: string;
}

/** The simulated phone to show. */
export interface PhoneQuery {
  /** In any usual form. */
  number: string;
  /** The merchant's short id; without it the records of all merchants are shown. */
  account?: string;
}

/** Converts old and new forms of a number to the new form, which the rows hold. Throws PhoneNumberError. */
export function canonicalNumber(number: string): string {
  // Not strict: test numbers need not be assigned in the numbering plan.
  return parseInternationalNumber(number, { strict: false });
}
