import type { Log } from '../kit/log.ts';
import { PublicError } from '../kit/public-error.ts';

/** Whether the error is a bug. A 503 that we answer on purpose is none: the database is away, or there are too many requests. */
export function isServerError(error: Error & { statusCode?: number | undefined }): boolean {
  const status = error.statusCode ?? 500;
  return status === 500 || (status > 500 && !(error instanceof PublicError));
}

/**
 * Logs a refused request in one line. What the caller can fix is logged for debugging only; a 503 is a warning to the
 * operator, with the reason and without a stack, because it is no bug.
 */
export function logRefusal(log: Log, requestId: string, error: Error & { code?: string; statusCode?: number }): void {
  const isPublic = error instanceof PublicError;
  const fields = { request_id: requestId, code: error.code, internal: isPublic ? error.internal : undefined };
  if (!isPublic || error.statusCode < 500) return log.debug('a request was refused', fields);
  const cause = error.cause instanceof Error ? ` (because: ${error.cause.message})` : '';
  log.warn('a request was refused', { ...fields, error: error.message + cause });
}
