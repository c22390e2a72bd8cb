import { parseInternationalNumber } from '../server/src/kit/phone-number.ts';

/** One number, as one account sees it at one network: outages and floats are each one's own. */
export interface PhoneLine {
  account: string;
  network: string;
  /** In any usual form. */
  number: string;
}

/** Whose simulated phone is looked at. */
export interface PhoneQuery {
  /** In any usual form. */
  number: string;
  /** The merchant's short id; without it what every merchant sent is shown. */
  account?: string;
}

/** Old and new forms of one number become one: the rows hold the new form. Throws PhoneNumberError. */
export function canonicalNumber(number: string): string {
  // Not strict: test numbers need not be ones that the numbering plan gives out.
  return parseInternationalNumber(number, { strict: false });
}
