import { createHash, timingSafeEqual } from 'node:crypto';
import { assert } from '../../kit/assert.ts';
import { parseStrictJsonBytes } from '../../kit/strict-json.ts';
import type { CallbackReading, RawCallback } from '../contract.ts';
import { isObject } from '../response-values.ts';
import type { WaveOptions } from './options.ts';
import { verifiedSeconds } from './signature.ts';
import { readSession } from './translate.ts';

/** The secrets of an account's webhooks, by the strategy that its portal was set to. Several while one is rotated. */
export interface WebhookSecrets {
  /** Sign each webhook. */
  signing: readonly string[];
  /** Are sent with each webhook, as a bearer token. */
  shared: readonly string[];
}

/**
 * Reads Wave's webhooks; it never throws, whatever the bytes. A completed session is a report. Everything else about a session is
 * only a hint, above all `payment_failed`, which is about one attempt of a payer who may still pay.
 */
export function createCallbackReader(
  secrets: WebhookSecrets,
  options: WaveOptions,
): (callback: RawCallback) => CallbackReading {
  // Without any secret, every webhook is refused.
  assert(![...secrets.signing, ...secrets.shared].includes(''), 'anybody could sign with an empty secret');
  return (callback) => {
    const refusal = refusalOf(callback, secrets, options);
    return refusal === null ? readEvent(callback.body, options) : { accepted: false, reason: refusal };
  };
}

function refusalOf(
  { headers, body, receivedAt }: RawCallback,
  secrets: WebhookSecrets,
  options: WaveOptions,
): 'signature' | 'stale' | null {
  const { 'wave-signature': header, authorization } = headers;
  if (header === undefined) return isSharedSecret(authorization, secrets.shared) ? null : 'signature';
  const seconds = verifiedSeconds(secrets.signing, { header, body });
  if (seconds === undefined) return 'signature';
  const ageSeconds = receivedAt.getTime() / 1_000 - seconds;
  const isFresh = ageSeconds <= options.webhookAgeMaxSeconds && ageSeconds >= -options.webhookFutureMaxSeconds;
  return isFresh ? null : 'stale';
}

function isSharedSecret(authorization: string | undefined, secrets: readonly string[]): boolean {
  const token = digestOf(authorization ?? '');
  return secrets.some((secret) => timingSafeEqual(token, digestOf(`Bearer ${secret}`)));
}

/** Texts of one length, so that the time that a comparison takes says nothing about the secret. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function readEvent(body: Uint8Array, options: WaveOptions): CallbackReading {
  let event: unknown;
  try {
    event = parseStrictJsonBytes(body);
  } catch {
    return { accepted: false, reason: 'malformed' };
  }
  const { type, data } = isObject(event) ? event : {};
  if (typeof type !== 'string' || !isObject(data)) return { accepted: false, reason: 'malformed' };
  const reference = data['client_reference'];
  // Money that was paid otherwise than by a session of ours, and the portal's test.
  if (!type.startsWith('checkout.') || typeof reference !== 'string') return { accepted: true, notifications: [] };
  const reported = type === 'checkout.session.completed' ? readSession(data, { reference, options }) : null;
  const response = reported?.state === 'succeeded' ? reported : null;
  return { accepted: true, notifications: [{ operation: 'collection', reference, response }] };
}
