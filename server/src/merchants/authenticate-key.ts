import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { ExpiringCache } from '../kit/expiring-cache.ts';
import { hmacOfApiKey, isWellFormedApiKey } from './api-key.ts';
import type { Merchant } from './merchant.ts';
import { findMerchantById, findMerchantIdByKeyHmac } from './queries.ts';

// A revoked key has to be refused within five seconds on every process; this leaves room for a slow answer.
const keyCacheMs = 3_000;
const keyCacheEntriesMax = 10_000;

/** Answers the merchant of a key, or undefined for a key that is mistyped, unknown or revoked: all look alike. */
export type KeyAuthenticator = (key: string) => Promise<Merchant | undefined>;

/** `onFit` is told of each key that was looked up and found, and waited for: it never rejects. */
export function createKeyAuthenticator(
  db: Queryable,
  clock: Clock,
  pepper: Uint8Array,
  onFit: () => Promise<void> = () => Promise.resolve(),
): KeyAuthenticator {
  const cache = new ExpiringCache<Merchant>({ clock, entriesMax: keyCacheEntriesMax, lifetimeMs: keyCacheMs });
  return async (key) => {
    if (!isWellFormedApiKey(key)) return undefined;
    const keyHmac = hmacOfApiKey(pepper, key);
    return cache.get(keyHmac.toString('base64'), async () => {
      const merchantId = await findMerchantIdByKeyHmac(db, keyHmac);
      if (merchantId === undefined) return undefined;
      await onFit();
      return findMerchantById(db, merchantId);
    });
  };
}
