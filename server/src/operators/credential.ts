import { createHmac, createSecretKey } from 'node:crypto';
import { crc32Base62, randomBase62 } from '../kit/base62.ts';
import type { Random } from '../kit/random.ts';

// `op_`, 32 random base62 characters (190 bits), and their checksum, made and kept like an API key.
const credentialPattern = /^op_[0-9A-Za-z]{38}$/;
const randomLength = 32;
const checksumLength = 6;

export function createCredentialText(random: Random): string {
  const body = `op_${randomBase62(random, randomLength)}`;
  return body + crc32Base62(body);
}

export function isWellFormedCredential(text: string): boolean {
  return credentialPattern.test(text) && crc32Base62(text.slice(0, -checksumLength)) === text.slice(-checksumLength);
}

/** Credentials are stored as this only. The prefix is part of what is hashed, so it is never an API key's HMAC. */
export function hmacOfCredential(pepper: Uint8Array, text: string): Buffer {
  return createHmac('sha256', createSecretKey(pepper)).update(text).digest();
}
