import { crc32 } from 'node:zlib';
import type { Random } from './random.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

// The largest multiple of 62 that fits in a byte: bytes from here on would make the first characters more likely.
const unbiasedMax = 248;

// 62^6 is above 2^32, so six characters hold any CRC32.
const checksumLength = 6;

/** `length` letters and digits, each worth 5.95 bits. */
export function randomBase62(random: Random, length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of random.bytes(length - text.length)) {
      if (byte < unbiasedMax) text += alphabet.charAt(byte % alphabet.length);
    }
  }
  return text;
}

/**
 * Six letters and digits that show whether a token was mistyped or cut off, before it is looked up. Not a signature:
 * anybody can compute it.
 */
export function crc32Base62(text: string): string {
  let rest = crc32(text);
  let checksum = '';
  for (let index = 0; index < checksumLength; index += 1) {
    checksum = alphabet.charAt(rest % alphabet.length) + checksum;
    rest = Math.floor(rest / alphabet.length);
  }
  return checksum;
}
