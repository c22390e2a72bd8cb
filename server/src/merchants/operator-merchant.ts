import { assert } from '../kit/assert.ts';
import type { Clock } from '../kit/clock.ts';
import type { Database } from '../kit/db.ts';
import { stableUuid } from '../kit/ids.ts';
import type { Merchant } from './merchant.ts';
import { findMerchantById, insertBusinessOnce, insertMerchantOnce, insertSweptMerchantOnce } from './queries.ts';

/** Of the operator's own accounts and books. */
export const operatorCurrency = 'GMD';

const name = 'The operator’s own books';
const businessId = stableUuid('operator');
const shortIds = { test: 'optrtest', live: 'optrlive' } as const;

/**
 * The merchant that holds the operator's own books of an environment: money on the operator's accounts that belongs to no
 * merchant. It has no keys and no logins. Created when it is first needed, by whichever process comes first.
 */
export async function operatorMerchant(
  { db, clock }: { db: Database; clock: Clock },
  testMode: boolean,
): Promise<Merchant> {
  const id = stableUuid('operator', testMode ? 'test' : 'live');
  const found = await findMerchantById(db, id);
  if (found) return found;
  const createdAt = clock.now();
  const merchant = { businessId, name, currency: operatorCurrency, rateLimitPerSecond: null, createdAt };
  await db.withTransaction(async (tx) => {
    tx.send(insertBusinessOnce({ id: businessId, name, createdAt }));
    const shortId = testMode ? shortIds.test : shortIds.live;
    tx.send(insertMerchantOnce({ ...merchant, id, shortId, testMode }));
    tx.send(insertSweptMerchantOnce(id));
  });
  const created = await findMerchantById(db, id);
  assert(created, 'the inserted merchant exists');
  return created;
}
