import { fieldError } from './app-error.ts';
import { AmountError, parseAmount } from './money.ts';

/** The bututs of an amount in a body. Throws AppError `invalid_request` naming `path`. */
export function amountOf(amount: number, path: string): bigint {
  try {
    return parseAmount(amount, path);
  } catch (error) {
    if (error instanceof AmountError) throw fieldError('invalid_request', path, error.message);
    throw error;
  }
}
