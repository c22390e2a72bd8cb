/** One field of a request that was refused: `path` as `data.amount`, `message` a sentence about that field. */
export interface FieldError {
  path: string;
  message: string;
}

export interface PublicErrorDetails {
  fields?: FieldError[];
  /** Whole seconds after which the same request may succeed; sent as `Retry-After`. */
  retryAfterSeconds?: number;
  /** For the log only: never sent to a client. */
  internal?: string;
  cause?: unknown;
}

/** How a code is answered. */
export interface PublicErrorKind {
  code: string;
  /** The HTTP status that belongs to the code. */
  statusCode: number;
  /** Whether an idempotency key remembers the refusal as it remembers a success. */
  isStored?: boolean;
}

/**
 * An error whose message is for the caller: a stable code, the status of that code, and a sentence that says what to do.
 * Anything else that is thrown is a bug and is answered with 500. The API's own are in `api/app-error.ts`.
 */
export class PublicError extends Error {
  override name = 'PublicError';
  readonly code: string;
  readonly statusCode: number;
  readonly fields: FieldError[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly internal: string | undefined;
  readonly isStored: boolean;

  constructor({ code, statusCode, isStored = false }: PublicErrorKind, message: string, details: PublicErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.statusCode = statusCode;
    this.isStored = isStored;
    this.fields = details.fields;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.internal = details.internal;
  }
}

/** What the kit itself refuses with: something is used up or away for now, whatever the request asked for. */
export const overloadStatuses = { rate_limited: 429, unavailable: 503 } as const;
export type OverloadCode = keyof typeof overloadStatuses;

/** A refusal that the caller may retry after a second. */
export function overloadError(code: OverloadCode, message: string, cause?: unknown): PublicError {
  return new PublicError({ code, statusCode: overloadStatuses[code] }, message, { retryAfterSeconds: 1, cause });
}
