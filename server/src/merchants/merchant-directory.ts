import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { ExpiringCache } from '../kit/expiring-cache.ts';
import { shortIdOf, type Merchant } from './merchant.ts';
import { findMerchantById, findMerchantByShortId, listMerchantsOfBusiness } from './queries.ts';

// How long settings may be out of date. A payment's fee is fixed when the payment is created.
export const merchantsKnownForMs = 3_000;
const entriesMax = 10_000;

/** Finds merchants for work and public tokens, with a cache. */
export interface MerchantDirectory {
  /** Pass `tx` inside a transaction: a second connection may not be available until the first is released. */
  byId(id: string, tx?: Queryable): Promise<Merchant | undefined>;
  byShortId(shortId: string): Promise<Merchant | undefined>;
  /** A business's two merchants, test and live. */
  ofBusiness(businessId: string): Promise<Merchant[]>;
  /** The merchant whose short id leads the token. */
  byToken(token: string): Promise<Merchant | undefined>;
}

export function createMerchantDirectory(db: Queryable, clock: Clock): MerchantDirectory {
  const byId = new ExpiringCache<Merchant>({ clock, entriesMax, lifetimeMs: merchantsKnownForMs });
  const byShortId = new ExpiringCache<Merchant>({ clock, entriesMax, lifetimeMs: merchantsKnownForMs });
  const findByShortId = (shortId: string) => byShortId.getShared(shortId, () => findMerchantByShortId(db, shortId));
  return {
    byId: (id, tx) =>
      tx ? byId.get(id, () => findMerchantById(tx, id)) : byId.getShared(id, () => findMerchantById(db, id)),
    byShortId: findByShortId,
    ofBusiness: (businessId) => listMerchantsOfBusiness(db, businessId),
    byToken: async (token) => {
      const shortId = shortIdOf(token);
      return shortId === null ? undefined : findByShortId(shortId);
    },
  };
}
