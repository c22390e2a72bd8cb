import { randomBase62 } from '../kit/base62.ts';
import type { Random } from '../kit/random.ts';

// With the short id in front, 128 random bits that also pass through systems that know letters and digits only.
const randomLength = 22;

/** Our reference of one order to a network, the only one it is given: it finds the merchant and cannot be guessed. */
export function newReference(random: Random, merchant: { shortId: string }): string {
  return merchant.shortId + randomBase62(random, randomLength);
}
