import { randomBase62 } from '../kit/base62.ts';
import type { Random } from '../kit/random.ts';

// 128 random bits, in letters and digits because some systems accept nothing else.
const randomLength = 22;

/** Our reference of one request to a network. It begins with the merchant's short id and cannot be guessed. */
export function newReference(random: Random, merchant: { shortId: string }): string {
  return merchant.shortId + randomBase62(random, randomLength);
}
