import { errorCodes } from './error-codes.ts';
import type { ErrorCode } from './error-codes.ts';

/** One field of a request that was refused: `path` as `data.amount`, `message` a sentence about that field. */
export interface FieldError {
  path: string;
  message: string;
}

export interface AppErrorDetails {
  fields?: FieldError[];
  /** Whole seconds after which the same request may succeed; sent as `Retry-After`. */
  retryAfterSeconds?: number;
  /**
   * False for a refusal that an idempotency key does not remember, although its code says so: what stands in the way is the
   * server's, and the same request may succeed once that is mended.
   */
  stored?: false;
  /** For the log only: never sent to a client. */
  internal?: string;
  cause?: unknown;
}

/**
 * The one error that becomes an answer: a stable code, a status that belongs to the code, and a sentence that tells
 * the caller what to do. Anything else that is thrown is our mistake and answers 500.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly statusCode: number;
  readonly fields: FieldError[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly internal: string | undefined;
  /** Whether an idempotency key remembers it like a success. */
  readonly isStored: boolean;

  constructor(code: ErrorCode, message: string, details: AppErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'AppError';
    this.code = code;
    this.statusCode = errorCodes[code].status;
    this.fields = details.fields;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.internal = details.internal;
    this.isStored = 'stored' in errorCodes[code] && details.stored !== false;
  }
}

/** A refusal that names one field of the request. */
export function fieldError(code: ErrorCode, path: string, message: string): AppError {
  return new AppError(code, message, { fields: [{ path, message }] });
}
