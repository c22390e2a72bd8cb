import { createHmac, createSecretKey } from 'node:crypto';
import { crc32Base62, randomBase62 } from '../kit/base62.ts';
import type { Random } from '../kit/random.ts';

const prefixes = { test: 'sk_test_', live: 'sk_live_' } as const;

// Its prefix, `sk_test_` or `sk_live_`, 32 random base62 characters (190 bits), and their checksum: a mistyped key is refused
// without asking the database, and a scanner recognises a leaked one.
const keyPattern = new RegExp(`^(?:${prefixes.test}|${prefixes.live})[0-9A-Za-z]{38}$`);
const randomLength = 32;
const checksumLength = 6;

export function createApiKeyText(random: Random, testMode: boolean): string {
  const body = prefixOf(testMode) + randomBase62(random, randomLength);
  return body + crc32Base62(body);
}

export function isWellFormedApiKey(text: string): boolean {
  return keyPattern.test(text) && crc32Base62(text.slice(0, -checksumLength)) === text.slice(-checksumLength);
}

/** Of a well-formed key: whether it sees test records. */
export function isTestApiKey(text: string): boolean {
  return text.startsWith(prefixes.test);
}

/** What is shown of a key: enough to tell two apart, and of no use to who looks over a shoulder. */
export function maskedApiKey(key: { testMode: boolean; lastFour: string }): string {
  return `${prefixOf(key.testMode)}…${key.lastFour}`;
}

/** The same of a key whose text is at hand. */
export function maskApiKey(text: string): string {
  return maskedApiKey({ testMode: isTestApiKey(text), lastFour: lastFourOf(text) });
}

/** The last characters of a key, which are stored and shown. */
export function lastFourOf(text: string): string {
  return text.slice(-4);
}

function prefixOf(testMode: boolean): string {
  return testMode ? prefixes.test : prefixes.live;
}

/**
 * Keys are stored as this only. The pepper lies outside the database, so a copy of the database does not let anyone
 * try keys. Looking a key up by it compares in the index, where timing tells nothing about an HMAC.
 */
export function hmacOfApiKey(pepper: Uint8Array, text: string): Buffer {
  // Node 24 takes 15 µs to accept a key as bytes and 1 to make this of them; every request comes through here.
  return createHmac('sha256', createSecretKey(pepper)).update(text).digest();
}
