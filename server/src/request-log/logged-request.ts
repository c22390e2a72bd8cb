/** A request with a valid API key, as developers see it. */
export interface LoggedRequest {
  merchantId: string;
  id: string;
  /** As the response's `x-request-id` says. */
  requestId: string;
  keyId: string;
  method: string;
  /** Without the question mark and what follows, as idempotency keys are stored with it. */
  path: string;
  /** The record that the path names, and the one that the response is: null for lists, and for what was not found out. */
  pathObjectId: string | null;
  responseObjectId: string | null;
  /** Masked. */
  query: string | null;
  statusCode: number;
  durationMs: number;
  idempotencyKey: string | null;
  /** The `code` of a refusal. */
  errorCode: string | null;
  /** Masked JSON, or its beginning; null where the request had no body, or is stored without. */
  requestBody: string | null;
  responseBody: string | null;
  createdAt: Date;
}

/** Whether a text can be an `x-request-id` of ours. */
export function isRequestId(text: string): boolean {
  return /^req_[0-9A-Za-z]{1,64}$/.test(text);
}
