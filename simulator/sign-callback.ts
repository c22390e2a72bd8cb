import { createHmac } from 'node:crypto';

/**
 * The `Sim-Signature` header of a callback: HMAC-SHA256 over the timestamp and the raw body without a separator, as Wave
 * documents it; guides that put a dot there are wrong. Each delivery is signed anew, because receivers refuse signatures
 * older than five minutes.
 */
export function signCallback(secret: string, callback: { sentAt: Date; body: string }): string {
  const timestamp = Math.floor(callback.sentAt.getTime() / 1_000);
  const signature = createHmac('sha256', secret).update(`${timestamp}${callback.body}`).digest('hex');
  return `t=${timestamp},v1=${signature}`;
}
