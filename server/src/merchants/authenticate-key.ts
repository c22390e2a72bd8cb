import type { KeyScope } from '../api/key-scope.ts';
import { BoundedMap } from '../kit/bounded-map.ts';
import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { ExpiringCache } from '../kit/expiring-cache.ts';
import { addressFilter } from './allowed-addresses.ts';
import { hmacOfApiKey, isWellFormedApiKey } from './api-key.ts';
import type { Merchant } from './merchant.ts';
import { findMerchantById } from './queries.ts';
import { findKeyByHmac } from './queries/api-keys.ts';

// Every process must refuse a revoked key within five seconds; this leaves room for a slow query. An expiry that was chosen
// before is exact, because it is compared at each use.
const keyCacheMs = 3_000;
const keyCacheEntriesMax = 10_000;

/** The merchant that an API key belongs to, and the key. */
export interface KeyHolder {
  merchant: Merchant;
  keyId: string;
  lastFour: string;
  /** Whether the merchant has no other key that is valid. */
  isOnlyKey: boolean;
  scopes: readonly KeyScope[];
  /** From this moment on the key is refused. */
  expiresAt: Date | null;
  /** Whether the key may be used from a client's bare address; null is an unknown one. */
  allows(address: string | null): boolean;
}

export interface KeyAuthenticator {
  /** `invalid` is a key that is mistyped, unknown or revoked, without distinction. */
  find(key: string): Promise<KeyHolder | 'expired' | 'invalid'>;
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
    const found = await findKeyByHmac(db, { keyHmac, now: clock.now() });
    if (!found) return undefined;
    await onVerified();
    const merchant = await findMerchantById(db, found.merchantId);
    const { id: keyId, lastFour, isOnly: isOnlyKey, scopes, expiresAt, addresses } = found;
    const allows = addresses === null ? () => true : addressFilter(addresses);
    return merchant && { merchant, keyId, lastFour, isOnlyKey, scopes, expiresAt, allows };
  };
  return {
    async find(key) {
      if (!isWellFormedApiKey(key)) return 'invalid';
      const keyHmac = hmacOfApiKey(pepper, key);
      const id = keyHmac.toString('base64');
      const holder = await cache.getShared(id, () => lookUp(keyHmac));
      const isExpired = holder !== undefined && hasExpired(holder, clock.now());
      const isValid = holder !== undefined && !isExpired;
      (isValid ? invalid : valid).delete(id);
      if (isValid) valid.set(id, 'valid');
      else invalid.set(id, 'invalid');
      return isExpired ? 'expired' : (holder ?? 'invalid');
    },
    cachedStatus(key) {
      if (!isWellFormedApiKey(key)) return 'invalid';
      const id = hmacOfApiKey(pepper, key).toString('base64');
      return valid.get(id) ?? invalid.get(id) ?? 'new';
    },
  };
}

/** Whether a key has reached the end of its time: it is valid until, and not at, `expiresAt`. */
export function hasExpired({ expiresAt }: { expiresAt: Date | null }, now: Date): boolean {
  return expiresAt !== null && expiresAt <= now;
}
