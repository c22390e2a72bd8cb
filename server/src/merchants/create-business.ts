import { assert } from '../kit/assert.ts';
import type { Clock } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import { randomBase62 } from '../kit/base62.ts';
import type { Random } from '../kit/random.ts';
import { post } from '../ledger/post.ts';
import { shortIdLength } from './merchant.ts';
import type { Merchant } from './merchant.ts';
import { findMerchantById, insertBusiness, insertMerchant } from './queries.ts';

export interface MerchantContext {
  clock: Clock;
  random: Random;
  newId: () => string;
}

/** A new test merchant can try transfers at once: 1,000,000 GMD. */
const testMoneyMinor = 100_000_000n;
const currency = 'GMD';

/**
 * A business and its two merchants, test and live, which share nothing but the business. The test merchant starts with
 * test money, booked through the ledger like any other.
 */
export async function createBusiness(
  tx: Transaction,
  context: MerchantContext,
  business: { name: string; rateLimitPerSecond?: bigint },
): Promise<{ test: Merchant; live: Merchant }> {
  const createdAt = context.clock.now();
  const businessId = context.newId();
  tx.send(insertBusiness({ id: businessId, name: business.name, createdAt }));
  const newMerchant = async (testMode: boolean): Promise<Merchant> => {
    const id = context.newId();
    const merchant = {
      id,
      businessId,
      shortId: randomBase62(context.random, shortIdLength),
      name: business.name,
      testMode,
      currency,
      rateLimitPerSecond: business.rateLimitPerSecond ?? null,
      createdAt,
    };
    tx.send(insertMerchant(merchant));
    // Read back, because its fees and limits follow from the operator's defaults.
    const stored = await findMerchantById(tx, id);
    assert(stored, 'what was inserted is there');
    return stored;
  };
  const test = await newMerchant(true);
  const live = await newMerchant(false);
  await post(tx, context, {
    merchantId: test.id,
    currency,
    flow: 'test_money',
    source: { type: 'merchant', id: test.id },
    movements: [{ debit: 'test_funding', credit: 'payable_available', amountMinor: testMoneyMinor }],
    at: createdAt,
  });
  return { test, live };
}
