import { createHmac, hash } from 'node:crypto';
import { randomBase62 } from '../kit/base62.ts';
import type { Random } from '../kit/random.ts';

// 43 characters of base62 are 256 bits.
const tokenLength = 43;

/** An unguessable text: of a session's cookie, or of a link in a mail. */
export function createToken(random: Random): string {
  return randomBase62(random, tokenLength);
}

/** The only form in which tokens are stored. They are random, so a plain hash cannot be guessed back. */
export function hashOfToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

export const recoveryCodesCount = 10;
// Without the characters that look alike on paper.
const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789';
const codeLength = 12;

/** A recovery code as its owner writes it down, such as `k7mq-w2cd-9xhv`: 59 bits. */
export function createRecoveryCode(random: Random): string {
  let code = '';
  while (code.length < codeLength) {
    for (const byte of random.bytes(codeLength)) {
      // Bytes beyond the last whole multiple would make some characters likelier.
      const isFair = byte < Math.floor(256 / alphabet.length) * alphabet.length;
      if (isFair && code.length < codeLength) code += alphabet[byte % alphabet.length];
    }
  }
  return code.replaceAll(/(.{4})(?=.)/g, '$1-');
}

/** Bound to the account and keyed, because a code is short enough to be tried. */
export function hashOfRecoveryCode(pepper: Uint8Array, accountId: string, code: string): Buffer {
  const typed = code.toLowerCase().replaceAll(/[\s-]/g, '');
  return createHmac('sha256', pepper).update(`recovery code ${accountId} ${typed}`).digest();
}
