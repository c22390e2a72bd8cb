import type { SealedStore } from '../keyring/sealed-store.ts';
import { sealContext } from './idempotency.ts';
import { countResponsesByKey, listResponsesUnderOtherKeys, replaceResponse } from './queries.ts';
import type { KeyAddress } from './queries.ts';

/** The answers that idempotency keys keep for 72 hours. */
export const sealedResponses: SealedStore<KeyAddress> = {
  what: 'stored answers',
  countByKey: countResponsesByKey,
  listUnderOtherKeys: async (db, page) =>
    (await listResponsesUnderOtherKeys(db, page)).map((stored) => ({
      position: stored,
      // The key itself is the merchant's own word and may name a person.
      name: `a stored answer of merchant ${stored.merchantId} at ${stored.path}`,
      sealed: stored.response,
      context: sealContext(stored),
      replaceBy: (response) => replaceResponse(stored, response),
    })),
};
