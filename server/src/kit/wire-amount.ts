import { fieldError } from './app-error.ts';
import { AmountError, parseAmount, parsePercent } from './money.ts';

/** The bututs of an amount in a body. Throws AppError `invalid_request` naming `path`. */
export function amountOf(amount: number, path: string): bigint {
  return read(path, () => parseAmount(amount, path));
}

/** The hundredths of a percentage in a body, above 0 and at most 100. Throws AppError `invalid_request` naming `path`. */
export function percentOf(percentage: number, path: string): bigint {
  return read(path, () => parsePercent(percentage, path));
}

function read(path: string, parse: () => bigint): bigint {
  try {
    return parse();
  } catch (error) {
    if (error instanceof AmountError) throw fieldError('invalid_request', path, error.message);
    throw error;
  }
}
