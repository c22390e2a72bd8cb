import { acquireAdvisoryLock } from '../database/advisory-lock.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { findDefaultRules, findMerchantRules } from './queries.ts';
import { findDefaultReserve, findReserveRules } from './queries/reserve.ts';
import type { MerchantRules, ReserveRules, RuleOwner } from './rules.ts';

// Every process caches merchants for three seconds (merchant-directory.ts) and then applies a change. Existing payments and
// transfers keep their fees.

export { clearFeeRule, clearLimit, setFeePayer, setFeeRule, setLimit } from './queries.ts';
export { setAppearance } from './queries/appearance.ts';
export { setRateLimits } from './queries/rate-limits.ts';
export { clearReserve, setReserve } from './queries/reserve.ts';
export { setUrlDefaults } from './queries/url-defaults.ts';

/**
 * Until the end of `tx` no command, nobody at the console and no business changes terms or settings: what is read after this call is
 * what a change replaces.
 */
export async function lockTerms(tx: Transaction): Promise<void> {
  await acquireAdvisoryLock(tx, 'terms');
}

/** The rules that are stored for the owner now, with the defaults behind them. */
export async function findRules(db: Queryable, owner: RuleOwner): Promise<MerchantRules> {
  const none = { fees: [], limits: [] };
  if (owner === 'default') return { own: none, defaults: await findDefaultRules(db) };
  return (await findMerchantRules(db, owner.merchantId)) ?? { own: none, defaults: none };
}

/** The owner's reserve rule, and the default. */
export async function findReserves(db: Queryable, owner: RuleOwner): Promise<ReserveRules> {
  if (owner === 'default') return { own: null, fallback: (await findDefaultReserve(db)) ?? null };
  return findReserveRules(db, owner.merchantId);
}
