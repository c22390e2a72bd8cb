import type { SealedStore } from '../keyring/sealed-store.ts';
import { sealContext } from './idempotency.ts';
import { countResponsesByKey, listResponsesUnderOtherKeys, replaceResponse, type KeyAddress } from './queries.ts';

/** The stored responses of idempotency keys, for resealing under another key. */
export const sealedResponses: SealedStore<KeyAddress> = {
  what: 'stored responses',
  countByKey: countResponsesByKey,
  listUnderOtherKeys: async (db, page) =>
    (await listResponsesUnderOtherKeys(db, page)).map((stored) => ({
      position: stored,
      // The merchant chose the key, and it may name a person.
      name: `a stored response of merchant ${stored.merchantId} at ${stored.path}`,
      sealed: stored.response,
      context: sealContext(stored),
      replaceBy: (response) => replaceResponse(stored, response),
    })),
};
