import type { Queryable } from '../kit/db.ts';
import { createApiKeyText, hmacOfApiKey, lastFourOf } from './api-key.ts';
import type { Merchant, MerchantContext } from './merchant.ts';
import { insertApiKey } from './queries.ts';
import type { ApiKeyRecord } from './queries.ts';

export {
  findMerchantById,
  findMerchantByShortId,
  hasApiKeys,
  listApiKeys,
  listMerchants,
  revokeApiKey,
} from './queries.ts';

/** Stored with each key, so that a second pepper can be introduced beside the first. */
const pepperVersion = 1n;

/** Creates a key for a merchant. Its text is returned this once; only its HMAC is stored. */
export async function createApiKey(
  db: Queryable,
  context: MerchantContext,
  merchant: Merchant,
  name: string,
): Promise<{ text: string; record: ApiKeyRecord }> {
  const text = createApiKeyText(context.random, merchant.testMode);
  const record: ApiKeyRecord = {
    merchantId: merchant.id,
    id: context.newId(),
    lastFour: lastFourOf(text),
    name,
    createdAt: context.clock.now(),
    revokedAt: null,
  };
  await db.run(insertApiKey({ ...record, keyHmac: hmacOfApiKey(context.pepper, text), pepperVersion }));
  return { text, record };
}
