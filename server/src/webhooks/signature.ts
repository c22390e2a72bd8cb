import { createHmac, createSecretKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { assert } from '../kit/assert.ts';
import { secretPrefix } from './endpoint-secret.ts';

export interface Message {
  /** The event's id: the same on every attempt and for every endpoint, so that receivers can drop repetitions. */
  id: string;
  /** The time of this attempt. */
  sentAt: Date;
  body: Uint8Array;
}

/**
 * The headers by which a receiver verifies that Dalasi sent this body: the service's own, and the three of Standard Webhooks
 * (standard-webhooks, spec 1.0.0), which hold two signatures while a secret is rotated. The service's own holds one, made with
 * the old secret until the overlap ends (docs/events.md, "Rotating the secret").
 */
export function signatureHeaders(
  message: Message,
  secrets: { current: string; previous: string | null },
  serviceHeader: string,
): Record<string, string> {
  const timestamp = Math.floor(message.sentAt.getTime() / 1_000).toString();
  const validSecrets = [secrets.current, ...(secrets.previous === null ? [] : [secrets.previous])];
  return {
    [serviceHeader]: serviceSignature(message.body, secrets.previous ?? secrets.current),
    'webhook-id': message.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': validSecrets.map((secret) => standardSignature(message, timestamp, secret)).join(' '),
  };
}

/** Lower-case hex HMAC-SHA512 of the body, keyed with the whole secret as it is shown, prefix included. */
function serviceSignature(body: Uint8Array, secret: string): string {
  return createHmac('sha512', secret).update(body).digest('hex');
}

function standardSignature({ id, body }: Message, timestamp: string, secret: string): string {
  const hmac = createHmac('sha256', standardKey(secret)).update(`${id}.${timestamp}.`).update(body);
  return `v1,${hmac.digest('base64')}`;
}

/** Refuses short keys: anybody can sign with an empty one. */
function standardKey(secret: string): KeyObject {
  assert(secret.startsWith(secretPrefix), 'a webhook secret starts with its prefix');
  const key = Buffer.from(secret.slice(secretPrefix.length), 'base64');
  assert(key.length >= 24, 'a webhook secret has at least the 24 bytes that Standard Webhooks asks for');
  // A key object, because Node signs four times as fast with one as with the bytes.
  return createSecretKey(key);
}
