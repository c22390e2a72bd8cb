import { AppError } from './app-error.ts';
import type { Log } from './log.ts';

/** Whether nobody meant this answer. A 503 is meant: the database is away, or too many came at once. */
export function isServerError(error: Error & { statusCode?: number | undefined }): boolean {
  const status = error.statusCode ?? 500;
  return status === 500 || (status > 500 && !(error instanceof AppError));
}

/**
 * One line for a request that was refused. What its sender can mend is told to whoever looks for it. That we cannot serve
 * just now is the operator's to know, with the reason and without a stack: nobody made a mistake there.
 */
export function logRefusal(log: Log, requestId: string, error: Error & { code?: string; statusCode?: number }): void {
  const isApp = error instanceof AppError;
  const fields = { request_id: requestId, code: error.code, internal: isApp ? error.internal : undefined };
  if (!isApp || error.statusCode < 500) return log.debug('a request was refused', fields);
  const cause = error.cause instanceof Error ? ` (because: ${error.cause.message})` : '';
  log.warn('a request was refused', { ...fields, error: error.message + cause });
}
