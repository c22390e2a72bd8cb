import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { assert } from '../kit/assert.ts';
import { secretPrefix, type Secrets } from './endpoint-secret.ts';

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
export function signatureHeaders(message: Message, secrets: Secrets, serviceHeader: string): Record<string, string> {
  const timestamp = Math.floor(message.sentAt.getTime() / 1_000).toString();
  const { service, standard } = signingKeys(secrets);
  return {
    [serviceHeader]: serviceSignature(message.body, service),
    'webhook-id': message.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': standard.map((key) => standardSignature(message, timestamp, key)).join(' '),
  };
}

// Key objects, because Node signs four times as fast with one as with the bytes.
interface SigningKeys {
  service: KeyObject;
  standard: readonly KeyObject[];
}

/** Forgotten with the secrets, which sign the deliveries of a whole claim. */
const preparedKeys = new WeakMap<Secrets, SigningKeys>();

function signingKeys(secrets: Secrets): SigningKeys {
  const prepared = preparedKeys.get(secrets);
  if (prepared) return prepared;
  const { current, previous } = secrets;
  const standard = [current, ...(previous === null ? [] : [previous])].map(standardKey);
  const keys = { service: createSecretKey(Buffer.from(previous ?? current)), standard };
  preparedKeys.set(secrets, keys);
  return keys;
}

/** Lower-case hex HMAC-SHA512 of the body, keyed with the whole secret as it is shown, prefix included. */
function serviceSignature(body: Uint8Array, key: KeyObject): string {
  return createHmac('sha512', key).update(body).digest('hex');
}

function standardSignature({ id, body }: Message, timestamp: string, key: KeyObject): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}

/** Refuses short keys: anybody can sign with an empty one. */
function standardKey(secret: string): KeyObject {
  assert(secret.startsWith(secretPrefix), 'a webhook secret starts with its prefix');
  const key = Buffer.from(secret.slice(secretPrefix.length), 'base64');
  assert(key.length >= 24, 'a webhook secret has at least the 24 bytes that Standard Webhooks asks for');
  return createSecretKey(key);
}
