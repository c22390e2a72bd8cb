import { assert } from '../../kit/assert.ts';
import { findMerchantById } from '../../merchants/manage-keys.ts';
import type { Merchant } from '../../merchants/merchant.ts';
import type { Visit } from '../visit.ts';

/** The merchant as it is now: a visit's may be some seconds old, and people look at what they have just changed. */
export async function ownMerchant({ accounts, merchant }: Visit): Promise<Merchant> {
  const found = await findMerchantById(accounts.db, merchant.id);
  assert(found, 'the merchant of a visit exists');
  return found;
}
