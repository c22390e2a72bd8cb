import { assert } from '../kit/assert.ts';
import type { Transaction } from '../kit/db.ts';
import { randomBase62 } from '../kit/base62.ts';
import { post } from '../ledger/post.ts';
import { shortIdLength, type Merchant, type MerchantContext } from './merchant.ts';
import { findMerchantById, insertBusiness, insertMerchant, insertSweptMerchantOnce } from './queries.ts';

// So that a new test merchant can make transfers at once: 1,000,000 GMD.
const testMoneyMinor = 100_000_000n;
const currency = 'GMD';

/**
 * Creates a business and its two merchants, test and live, which share nothing else. The test merchant starts with test money,
 * posted to the ledger like any other.
 */
export async function createBusiness(
  tx: Transaction,
  context: Omit<MerchantContext, 'pepper'>,
  business: { id?: string; name: string; rateLimitPerSecond?: bigint },
): Promise<{ test: Merchant; live: Merchant }> {
  const createdAt = context.clock.now();
  const businessId = business.id ?? context.newId();
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
    tx.send(insertSweptMerchantOnce(id));
    // Its fees and limits follow from the operator's defaults.
    const stored = await findMerchantById(tx, id);
    assert(stored, 'the inserted merchant exists');
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
