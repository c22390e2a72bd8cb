import { AmountError, parseAmount, parsePercent } from '../kit/money.ts';
import { parseInternationalNumber, parsePhoneNumber, PhoneNumberError } from '../kit/phone-number.ts';
import { fieldError } from './app-error.ts';
import type { ErrorCode } from './error-codes.ts';
import { metadataKeyLengthMax, metadataValueLengthMax } from './wire-types.ts';

// Fields that many bodies have, as the values that the service works with. Each throws an AppError naming `path`.

/** The bututs of an amount. Throws AppError `invalid_request`. */
export function amountOf(amount: number, path: string): bigint {
  return readField('invalid_request', path, () => parseAmount(amount, path));
}

/** The hundredths of a percentage above 0 and at most 100. Throws AppError `invalid_request`. */
export function percentOf(percentage: number, path: string): bigint {
  return readField('invalid_request', path, () => parsePercent(percentage, path));
}

/** The E.164 form of a wallet's number in any usual form. Throws AppError `account_number_invalid`. */
export function canonicalAccountNumber(text: string, { strict, path }: { strict: boolean; path: string }): string {
  return readField('account_number_invalid', path, () => parsePhoneNumber(text, { strict }).canonical);
}

/**
 * The E.164 form of a person's number, Gambian in any usual form or foreign with + (docs/api.md, "Phone numbers").
 * Throws AppError `invalid_request`.
 */
export function canonicalContactNumber(text: string, { strict, path }: { strict: boolean; path: string }): string {
  return readField('invalid_request', path, () => parseInternationalNumber(text, { strict }));
}

/** The text as it was sent. Throws AppError `invalid_request` for one of spaces only. */
export function notBlank(text: string, path: string): string {
  if (text.trim() === '') throw fieldError('invalid_request', path, `${path} must not be empty.`);
  return text;
}

/** The merchant's own data; bounded, because it is part of every record and event. Throws AppError `invalid_request`. */
export function checkMetadata<Value extends object>(metadata: Value, path: string): Value {
  for (const [key, value] of Object.entries(metadata)) {
    if (lengthOf(key) > metadataKeyLengthMax) {
      throw fieldError('invalid_request', path, `A key of ${path} has at most ${metadataKeyLengthMax} characters.`);
    }
    if (lengthOf(typeof value === 'string' ? value : JSON.stringify(value)) > metadataValueLengthMax) {
      const message = `A value of ${path} has at most ${metadataValueLengthMax} characters.`;
      throw fieldError('invalid_request', `${path}.${key}`, message);
    }
  }
  return metadata;
}

function readField<Value>(code: ErrorCode, path: string, parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    if (error instanceof AmountError || error instanceof PhoneNumberError) throw fieldError(code, path, error.message);
    throw error;
  }
}

/** In characters, as the schemas count other texts: a surrogate pair is one. */
function lengthOf(text: string): number {
  return text.replaceAll(/./gsu, '.').length;
}
