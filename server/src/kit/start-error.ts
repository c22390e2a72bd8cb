/**
 * Why the program cannot start: one plain sentence for the operator that says what is wrong and what to change. `main` prints
 * the message alone, without a stack; the cause is for the log.
 */
export class StartError extends Error {
  override name = 'StartError';
}

/** The code of a failed system call (`EACCES`, `ENOENT`), or the error's message where it has none. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // When the connection fails at several addresses, the AggregateError has no message of its own.
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return errorCode(error) ?? error.message;
}

/** Why a file cannot be read, as a sentence. */
export function unreadableFile(path: string, error: unknown): string {
  const reason = reasonOf(error);
  return reason === 'ENOENT' ? `There is no file ${path}.` : `${path} cannot be read: ${reason}.`;
}

/** `code` of a failed system call, or the SQLSTATE of a failed statement. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
