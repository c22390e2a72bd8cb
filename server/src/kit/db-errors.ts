import pg from 'pg';
import { overloadError, PublicError } from './public-error.ts';

/** Deadlocks and serialization failures have changed nothing; nothing else is retried. */
export function isRetryable(error: unknown): boolean {
  const code = sqlState(error);
  return code === '40001' || code === '40P01';
}

export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}

/**
 * Whether the error is a violation of this unique constraint or index. The name is read from the message, because Citus
 * sets no constraint field and appends a shard number to the name.
 */
export function isUniqueViolation(error: unknown, constraint: string): boolean {
  if (sqlState(error) !== '23505' || !(error instanceof Error)) return false;
  return new RegExp(`"${constraint}(_\\d+)?"`).test(error.message);
}

// Classes: lost connections, refused logins, insufficient resources, operator intervention, system errors. States: a standby,
// deadlocks beyond the retries, a missing database, missing privileges. None is a bug: the grants of the serving role follow
// from the migrations, so a missing privilege was revoked at the database. Without that on the schema, no table is found; a
// mistyped table looks the same, and tests find it.
const unavailableClasses = ['08', '28', '53', '57', '58'];
const unavailableStates = new Set(['25006', '40001', '40P01', '3D000', '42501', '42P01']);
const unavailableNetworkCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOENT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

function isUnavailable(error: unknown): boolean {
  const state = sqlState(error);
  // The server ends or refuses the connection with it, for any reason: a database that takes no connections (55000).
  if (error instanceof pg.DatabaseError && error.severity === 'FATAL') return true;
  if (state !== undefined) return unavailableClasses.includes(state.slice(0, 2)) || unavailableStates.has(state);
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code === 'string' && unavailableNetworkCodes.has(code)) return true;
  return (
    error instanceof Error &&
    /connection (terminated|timeout|error)|not queryable|timeout exceeded/i.test(error.message)
  );
}

// Timeouts of the database: of a lock and of a statement.
const timeoutMessages = new Map([
  ['55P03', 'Something else is changing this just now. Try again in a second.'],
  ['57014', 'This took too long and was given up. Try again in a second.'],
]);

/**
 * Whether a transaction failed because the database was away, and not by anything that it did. Its outcome may be unknown: the
 * answer to a commit may be lost.
 */
export function isDatabaseAway(error: unknown): boolean {
  const cause = error instanceof PublicError ? error.cause : error;
  return isUnavailable(cause) && !isRetryable(cause) && !timeoutMessages.has(sqlState(cause) ?? '');
}

// The server has ended the session; an established connection has failed.
const lostStates = new Set(['57P01', '57P02', '08003', '08006']);
const lostNetworkCodes = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT']);

/** Whether a transaction failed because its connection was lost. Another one may work; whether it was committed, its rows show. */
export function isConnectionLost(error: unknown): boolean {
  const cause = error instanceof PublicError ? error.cause : error;
  const state = sqlState(cause);
  if (state !== undefined) return lostStates.has(state);
  const code = (cause as { code?: unknown } | null)?.code;
  if (typeof code === 'string') return lostNetworkCodes.has(code);
  return cause instanceof Error && /connection terminated unexpectedly|not queryable/i.test(cause.message);
}

/** Whether a node of a cluster did not answer its coordinator; the others may. */
export function isNodeAway(error: unknown): boolean {
  const cause = error instanceof PublicError ? error.cause : error;
  return sqlState(cause)?.startsWith('08') === true && cause instanceof Error && /\bremote node\b/.test(cause.message);
}

/** Whether a transaction waited too long for a row that another one has locked. */
export function isLockTimeout(error: unknown): boolean {
  return sqlState(error instanceof PublicError ? error.cause : error) === '55P03';
}

/** A database that does not answer is neither the caller's fault nor a bug: 503, try again. */
export function translateError(error: unknown): unknown {
  if (error instanceof PublicError) return error;
  const timeoutMessage = timeoutMessages.get(sqlState(error) ?? '');
  if (timeoutMessage === undefined && !isUnavailable(error)) return error;
  const message = timeoutMessage ?? 'The service cannot reach its database just now. Try again in a second.';
  return overloadError('unavailable', message, error);
}
