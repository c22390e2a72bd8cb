import type { Queryable } from '../kit/db.ts';
import { createApiKeyText, hmacOfApiKey, lastFourOf } from './api-key.ts';
import type { MerchantContext } from './create-business.ts';
import type { Merchant } from './merchant.ts';
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

export interface KeyContext extends MerchantContext {
  pepper: Uint8Array;
}

/** The first pepper; a second one is added beside it, and keys say which they were stored under. */
const pepperVersion = 1n;

/** Makes a key for a merchant. Its text is answered here once and cannot be had again. */
export async function createApiKey(
  db: Queryable,
  context: KeyContext,
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
