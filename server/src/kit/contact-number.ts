import { fieldError } from './app-error.ts';
import { parseInternationalNumber, PhoneNumberError } from './phone-number.ts';

/**
 * The E.164 form of the number of a person, Gambian in any usual form or foreign with + (docs/api.md, "Phone
 * numbers"). Throws AppError `invalid_request` naming `path`.
 */
export function canonicalContactNumber(text: string, { strict, path }: { strict: boolean; path: string }): string {
  try {
    return parseInternationalNumber(text, { strict });
  } catch (error) {
    if (error instanceof PhoneNumberError) throw fieldError('invalid_request', path, error.message);
    throw error;
  }
}
