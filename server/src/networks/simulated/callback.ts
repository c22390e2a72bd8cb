import { createHmac, timingSafeEqual } from 'node:crypto';
import { assert } from '../../kit/assert.ts';
import { parseStrictJsonBytes } from '../../kit/strict-json.ts';
import type { CallbackReading, RawCallback } from '../contract.ts';
import { payoutNotification } from './translate-payout.ts';
import { sessionNotification } from './translate.ts';

// Wave's window: five minutes for slow delivery, half a minute for clocks that differ.
const agePastMaxSeconds = 300;
const ageFutureMaxSeconds = 30;

// Several while a secret is rotated. More than eight would be an attempt to guess.
const signatureHeader = /^t=(\d{1,12})((?:,v1=[0-9a-f]{64}){1,8})$/;

/**
 * Reads a simulated network's callbacks: `Sim-Signature: t=<unix>,v1=<hex>[,v1=…]`, HMAC-SHA256 over the timestamp and
 * the raw body with no separator. The reader never throws, whatever the bytes.
 */
export function createCallbackReader(secret: string): (callback: RawCallback) => CallbackReading {
  assert(secret !== '', 'an empty secret would let anybody sign callbacks');
  return (callback) => {
    const timestamp = verifiedTimestamp(secret, callback);
    if (timestamp === undefined) return { accepted: false, reason: 'signature' };
    const ageSeconds = callback.receivedAt.getTime() / 1_000 - timestamp;
    const fresh = ageSeconds <= agePastMaxSeconds && ageSeconds >= -ageFutureMaxSeconds;
    return fresh ? readNotification(callback.body) : { accepted: false, reason: 'stale' };
  };
}

/** The timestamp, if one of the signatures is valid for it. */
function verifiedTimestamp(secret: string, { headers, body }: RawCallback): number | undefined {
  const header = headers['sim-signature'];
  const [, timestamp, signatures] = signatureHeader.exec(typeof header === 'string' ? header : '') ?? [];
  if (timestamp === undefined || signatures === undefined) return undefined;
  const expected = createHmac('sha256', secret).update(timestamp).update(body).digest();
  const candidates = signatures.split(',v1=').slice(1);
  const matches = candidates.some((signature) => timingSafeEqual(Buffer.from(signature, 'hex'), expected));
  return matches ? Number(timestamp) : undefined;
}

function readNotification(body: Uint8Array): CallbackReading {
  let report: unknown;
  try {
    report = parseStrictJsonBytes(body);
  } catch {
    return { accepted: false, reason: 'malformed' };
  }
  const { id, type, data } = (report ?? {}) as { id?: unknown; type?: unknown; data?: unknown };
  const isPayout = typeof type === 'string' && type.startsWith('payout.');
  const notification = isPayout ? payoutNotification(data) : sessionNotification(data);
  if (!notification) return { accepted: false, reason: 'malformed' };
  // The id is the same on each delivery of a notification, and different for each reversal.
  if (notification.response?.state === 'reversed' && typeof id === 'string') notification.response.reversalId = id;
  return { accepted: true, notifications: [notification] };
}
