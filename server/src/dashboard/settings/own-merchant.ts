import { assert } from '../../kit/assert.ts';
import type { Queryable } from '../../kit/db.ts';
import { findMerchantById } from '../../merchants/manage-keys.ts';
import type { Merchant } from '../../merchants/merchant.ts';
import type { Visit } from '../visit.ts';

/** The merchant as it is now: a visit's may be some seconds old, and people look at what they have just changed. */
export function ownMerchant(visit: Visit): Promise<Merchant> {
  return ownMerchantIn(visit.accounts.db, visit);
}

/** The same as a transaction sees it. */
export async function ownMerchantIn(db: Queryable, { merchant }: Visit): Promise<Merchant> {
  const found = await findMerchantById(db, merchant.id);
  assert(found, 'the merchant of a visit exists');
  return found;
}
