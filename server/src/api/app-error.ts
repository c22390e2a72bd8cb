import { PublicError, type PublicErrorDetails } from '../kit/public-error.ts';
import { errorCodes, type ErrorCode } from './error-codes.ts';

export interface AppErrorDetails extends PublicErrorDetails {
  /**
   * False for a refusal that an idempotency key does not remember, although its code says so: the cause is the server's,
   * and the same request may succeed once that is fixed.
   */
  stored?: false;
}

/** A refusal with one of the API's codes; the code decides its status and whether an idempotency key remembers it. */
export class AppError extends PublicError {
  override name = 'AppError';
  declare readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, details: AppErrorDetails = {}) {
    const isStored = 'stored' in errorCodes[code] && details.stored !== false;
    super({ code, statusCode: errorCodes[code].status, isStored }, message, details);
  }
}

/** A refusal that names one field of the request. */
export function fieldError(code: ErrorCode, path: string, message: string): AppError {
  return new AppError(code, message, { fields: [{ path, message }] });
}
