import { createHmac, createSecretKey } from 'node:crypto';
import { crc32Base62, randomBase62 } from '../kit/base62.ts';
import type { Random } from '../kit/random.ts';

const prefixes = { test: 'sk_test_', live: 'sk_live_' } as const;

// The prefix, `sk_test_` or `sk_live_`, 32 random base62 characters (190 bits), and their checksum: a mistyped key is refused
// without a query, and secret scanners recognise a leaked one.
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

/** Whether a well-formed key is a test key. */
export function isTestApiKey(text: string): boolean {
  return text.startsWith(prefixes.test);
}

/** The form in which a key is shown: enough to tell two keys apart, and not usable. */
export function maskedApiKey(key: { testMode: boolean; lastFour: string }): string {
  return `${prefixOf(key.testMode)}…${key.lastFour}`;
}

/** As `maskedApiKey`, from the key's text. */
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
 * The only form in which keys are stored. The pepper is outside the database, so a copy of the database does not allow guessing
 * keys. A look-up by HMAC leaks nothing about the key through its timing.
 */
export function hmacOfApiKey(pepper: Uint8Array, text: string): Buffer {
  // Per request: Node 24 takes 15 µs for an HMAC with a key given as bytes, 1 µs to create this key object.
  return createHmac('sha256', createSecretKey(pepper)).update(text).digest();
}
