import { BoundedMap } from '../kit/bounded-map.ts';
import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { ExpiringCache } from '../kit/expiring-cache.ts';
import { hmacOfApiKey, isWellFormedApiKey } from './api-key.ts';
import type { Merchant } from './merchant.ts';
import { findKeyByHmac, findMerchantById } from './queries.ts';

// Every process must refuse a revoked key within five seconds; this leaves room for a slow query.
const keyCacheMs = 3_000;
const keyCacheEntriesMax = 10_000;

/** The merchant that an API key belongs to, and the key. */
export interface KeyHolder {
  merchant: Merchant;
  keyId: string;
  /** Whether the merchant has no other key that is valid. */
  isOnlyKey: boolean;
}

export interface KeyAuthenticator {
  /** Undefined for a key that is mistyped, unknown or revoked, without distinction. */
  find(key: string): Promise<KeyHolder | undefined>;
  /** The result of this process's last look-up of the key, `new` if there was none. Runs no query. */
  cachedStatus(key: string): 'valid' | 'invalid' | 'new';
}

/** Awaits `onVerified` after each look-up that finds a key; `onVerified` must not reject. */
export function createKeyAuthenticator(
  db: Queryable,
  clock: Clock,
  pepper: Uint8Array,
  onVerified: () => Promise<void> = () => Promise.resolve(),
): KeyAuthenticator {
  const cache = new ExpiringCache<KeyHolder>({ clock, entriesMax: keyCacheEntriesMax, lifetimeMs: keyCacheMs });
  // Two maps, so that a flood of wrong keys evicts no valid one.
  const valid = new BoundedMap<string, 'valid'>(keyCacheEntriesMax);
  const invalid = new BoundedMap<string, 'invalid'>(keyCacheEntriesMax);
  const lookUp = async (keyHmac: Buffer): Promise<KeyHolder | undefined> => {
    const found = await findKeyByHmac(db, keyHmac);
    if (!found) return undefined;
    await onVerified();
    const merchant = await findMerchantById(db, found.merchantId);
    return merchant && { merchant, keyId: found.id, isOnlyKey: found.isOnly };
  };
  return {
    async find(key) {
      if (!isWellFormedApiKey(key)) return undefined;
      const keyHmac = hmacOfApiKey(pepper, key);
      const id = keyHmac.toString('base64');
      const holder = await cache.get(id, () => lookUp(keyHmac));
      (holder ? invalid : valid).delete(id);
      if (holder) valid.set(id, 'valid');
      else invalid.set(id, 'invalid');
      return holder;
    },
    cachedStatus(key) {
      if (!isWellFormedApiKey(key)) return 'invalid';
      const id = hmacOfApiKey(pepper, key).toString('base64');
      return valid.get(id) ?? invalid.get(id) ?? 'new';
    },
  };
}
