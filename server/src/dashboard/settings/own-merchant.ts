import { assert } from '../../kit/assert.ts';
import type { Queryable } from '../../kit/db.ts';
import { findMerchantById } from '../../merchants/manage-keys.ts';
import type { Merchant } from '../../merchants/merchant.ts';
import type { Visit } from '../visit.ts';

/** The merchant as it is now: a visit's may be some seconds old, and people look at what they have just changed. */
export function ownMerchant(visit: Visit): Promise<Merchant> {
  return findOwn(visit.accounts.db, visit);
}

/** For `changeSetting`: what a form has shown of the merchant, and what that is by the time of the change. */
export function shownAndCurrent<Words>(visit: Visit, shown: Merchant, inWords: (merchant: Merchant) => Words) {
  return { before: inWords(shown), current: async (tx: Queryable) => inWords(await findOwn(tx, visit)) };
}

async function findOwn(db: Queryable, { merchant }: Visit): Promise<Merchant> {
  const found = await findMerchantById(db, merchant.id);
  assert(found, 'the merchant of a visit exists');
  return found;
}
