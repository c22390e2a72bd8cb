import { fieldError } from './app-error.ts';
import { PhoneNumberError, parsePhoneNumber } from './phone-number.ts';

/**
 * The E.164 form of a wallet's number in any usual form. Throws AppError `account_number_invalid` naming `path`.
 */
export function canonicalAccountNumber(text: string, { strict, path }: { strict: boolean; path: string }): string {
  try {
    return parsePhoneNumber(text, { strict }).canonical;
  } catch (error) {
    if (error instanceof PhoneNumberError) throw fieldError('account_number_invalid', path, error.message);
    throw error;
  }
}
