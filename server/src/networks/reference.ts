import { randomBase62 } from '../kit/base62.ts';
import type { Random } from '../kit/random.ts';

// 128 random bits, in letters and digits because some systems accept nothing else.
const randomLength = 22;

/** Our reference of one request to a network. It begins with the merchant's short id and cannot be guessed. */
export function newReference(random: Random, merchant: { shortId: string }): string {
  return merchant.shortId + randomBase62(random, randomLength);
}

// Every reference begins with the merchant's short id.
const shortIdLength = 8;

// For requests about nothing of a merchant's. No merchant has this short id.
const platformAccount = 'platform';

/** The merchant's short id in a reference, which is also the merchant's account at the simulated networks. */
export function accountOf(reference: string | null): string {
  return reference === null ? platformAccount : reference.slice(0, shortIdLength);
}
