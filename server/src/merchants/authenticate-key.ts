import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { ExpiringCache } from '../kit/expiring-cache.ts';
import { hmacOfApiKey, isWellFormedApiKey } from './api-key.ts';
import type { Merchant } from './merchant.ts';
import { findKeyByHmac, findMerchantById } from './queries.ts';

// A revoked key has to be refused within five seconds on every process; this leaves room for a slow answer.
const keyCacheMs = 3_000;
const keyCacheEntriesMax = 10_000;

/** Whose key it is. */
export interface KeyHolder {
  merchant: Merchant;
  keyId: string;
  /** Whether the merchant has no other key that is valid. */
  isOnlyKey: boolean;
}

export interface KeyAuthenticator {
  /** Undefined for a key that is mistyped, unknown or revoked: all look alike. */
  find(key: string): Promise<KeyHolder | undefined>;
  /** Whether the key was valid when it was last looked up here; asks nobody. */
  isKnown(key: string): boolean;
}

/** `onFit` is told of each key that was looked up and found, and waited for: it never rejects. */
export function createKeyAuthenticator(
  db: Queryable,
  clock: Clock,
  pepper: Uint8Array,
  onFit: () => Promise<void> = () => Promise.resolve(),
): KeyAuthenticator {
  const cache = new ExpiringCache<KeyHolder>({ clock, entriesMax: keyCacheEntriesMax, lifetimeMs: keyCacheMs });
  const known = new Set<string>();
  const look = async (keyHmac: Buffer): Promise<KeyHolder | undefined> => {
    const found = await findKeyByHmac(db, keyHmac);
    if (!found) return undefined;
    await onFit();
    const merchant = await findMerchantById(db, found.merchantId);
    return merchant && { merchant, keyId: found.id, isOnlyKey: found.isOnly };
  };
  return {
    async find(key) {
      if (!isWellFormedApiKey(key)) return undefined;
      const keyHmac = hmacOfApiKey(pepper, key);
      const id = keyHmac.toString('base64');
      const holder = await cache.get(id, () => look(keyHmac));
      if (!holder) known.delete(id);
      else if (!known.has(id)) remember(known, id);
      return holder;
    },
    isKnown: (key) => isWellFormedApiKey(key) && known.has(hmacOfApiKey(pepper, key).toString('base64')),
  };
}

/** A Set keeps the order of insertion: the first is the oldest. */
function remember(known: Set<string>, id: string): void {
  if (known.size >= keyCacheEntriesMax) {
    const [oldest] = known;
    if (oldest !== undefined) known.delete(oldest);
  }
  known.add(id);
}
