import { createHmac, timingSafeEqual } from 'node:crypto';

// Several while a secret is rotated. More than eight would be an attempt to guess.
const headerForm = /^t=(\d{1,12})((?:,v1=[0-9a-f]{64}){1,8})$/;

/**
 * The `Wave-Signature` of a request: HMAC-SHA256 over the time in seconds and the raw body with nothing between them. Guides that
 * put a dot there, as Stripe does, disagree with Wave's own text.
 */
export function signWave(secret: string, { sentAt, body }: { sentAt: Date; body: string }): string {
  const seconds = String(Math.floor(sentAt.getTime() / 1_000));
  return `t=${seconds},v1=${macOf(secret, seconds, body).toString('hex')}`;
}

/** The time that a header was signed at, in seconds, where one of its signatures is of one of the secrets. */
export function verifiedSeconds(
  secrets: readonly string[],
  { header, body }: { header: unknown; body: Uint8Array },
): number | undefined {
  const [, seconds, signatures] = headerForm.exec(typeof header === 'string' ? header : '') ?? [];
  if (seconds === undefined || signatures === undefined) return undefined;
  const candidates = signatures
    .split(',v1=')
    .slice(1)
    .map((signature) => Buffer.from(signature, 'hex'));
  const isSigned = secrets.some((secret) => {
    const expected = macOf(secret, seconds, body);
    return candidates.some((candidate) => timingSafeEqual(candidate, expected));
  });
  return isSigned ? Number(seconds) : undefined;
}

function macOf(secret: string, seconds: string, body: string | Uint8Array): Buffer {
  return createHmac('sha256', secret).update(seconds).update(body).digest();
}
