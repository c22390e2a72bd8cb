import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { readAuthorization, requestSigningSecret } from '../credentials.ts';
import { WaveError } from './wave-error.ts';

export interface WaveRequest {
  headers: IncomingHttpHeaders;
  /** The raw body; empty for a request without one. */
  rawBody: Buffer;
}

// As for webhooks; Wave does not say how long a request's signature is valid.
const ageMaxSeconds = 300;

/** The account that a request proves. All keys of the simulated Wave require signed requests. Throws WaveError. */
export function authenticate(
  { headers, rawBody }: WaveRequest,
  { bearerSecret, now }: { bearerSecret: string; now: Date },
): string {
  const { authorization } = headers;
  if (authorization === undefined) {
    throw new WaveError(401, 'missing-auth-header', 'Your request should include an HTTP auth header.');
  }
  if (!authorization.startsWith('Bearer ')) {
    throw new WaveError(401, 'invalid-auth', 'Your HTTP auth header can’t be processed.');
  }
  const account = readAuthorization(authorization, { bearerSecret, network: 'wave' });
  if (account === undefined) {
    throw new WaveError(401, 'no-matching-api-key', 'The key you provided doesn’t exist in our system.');
  }
  const secret = requestSigningSecret(bearerSecret, { network: 'wave', account });
  if (!isSigned(headers['wave-signature'], { secret, rawBody, now })) {
    throw new WaveError(401, 'invalid-auth', 'The request’s signature is missing or not valid.');
  }
  return account;
}

/** The time and the raw body with nothing between them; a request without a body is signed over the time alone. */
function isSigned(header: unknown, { secret, rawBody, now }: { secret: string; rawBody: Buffer; now: Date }): boolean {
  const [, seconds, signature] =
    /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(typeof header === 'string' ? header : '') ?? [];
  if (seconds === undefined || signature === undefined) return false;
  if (Math.abs(now.getTime() / 1_000 - Number(seconds)) > ageMaxSeconds) return false;
  const expected = createHmac('sha256', secret).update(seconds).update(rawBody).digest();
  return timingSafeEqual(Buffer.from(signature, 'hex'), expected);
}
