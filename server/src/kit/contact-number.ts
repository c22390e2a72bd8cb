import { fieldError } from './app-error.ts';
import { parseInternationalNumber, PhoneNumberError } from './phone-number.ts';

/**
 * Checks the number of a person, Gambian in any usual form or foreign with + (decisions, "Virtual terminals"); it is
 * kept as it was sent. Throws AppError `invalid_request` naming `path`.
 */
export function checkContactNumber(text: string | null, { strict, path }: { strict: boolean; path: string }): void {
  if (text === null) return;
  try {
    parseInternationalNumber(text, { strict });
  } catch (error) {
    if (error instanceof PhoneNumberError) throw fieldError('invalid_request', path, error.message);
    throw error;
  }
}
