import type { Queryable } from '../kit/db.ts';
import type { FeePayer } from './fees.ts';
import type { MerchantRateLimits } from './merchant.ts';
import { deleteFeeRule, deleteLimit, updateFeePayer, upsertFeeRule, upsertLimit } from './queries.ts';
import type { MerchantAppearance } from './appearance.ts';
import { updateAppearance } from './queries/appearance.ts';
import { updateRateLimits } from './queries/rate-limits.ts';
import { updateUrlDefaults } from './queries/url-defaults.ts';
import { deleteReserve, findDefaultReserve, findReserveRules, upsertReserve } from './queries/reserve.ts';
import type { UrlDefaults } from './url-defaults.ts';
import type { LimitKind, ReserveRule, ReserveRules, RuleOwner, StoredFeeRule, StoredLimit } from './rules.ts';

export { findDefaultRules, findMerchantRules } from './queries.ts';

// Every process caches merchants for three seconds (merchant-directory.ts) and then applies a change. Existing payments and
// transfers keep their fees.

/** Replaces the owner's fee rule for the same operation and network. */
export async function setFeeRule(db: Queryable, owner: RuleOwner, rule: StoredFeeRule): Promise<void> {
  await db.run(upsertFeeRule(owner, rule));
}

/** Returns whether there was one. */
export async function clearFeeRule(
  db: Queryable,
  owner: RuleOwner,
  key: Pick<StoredFeeRule, 'operation' | 'network'>,
): Promise<boolean> {
  return (await db.run(deleteFeeRule(owner, key))) === 1;
}

/** Sets who pays the fees of a merchant's collections. The default, the business, cannot be changed. */
export async function setFeePayer(db: Queryable, merchantId: string, payer: FeePayer): Promise<void> {
  await db.run(updateFeePayer(merchantId, payer));
}

/** Replaces the owner's limit of the same kind. */
export async function setLimit(db: Queryable, owner: RuleOwner, limit: StoredLimit): Promise<void> {
  await db.run(upsertLimit(owner, limit));
}

/** Returns whether there was one. */
export async function clearLimit(db: Queryable, owner: RuleOwner, kind: LimitKind): Promise<boolean> {
  return (await db.run(deleteLimit(owner, kind))) === 1;
}

/** The owner's reserve rule, and the default. */
export async function findReserves(db: Queryable, owner: RuleOwner): Promise<ReserveRules> {
  if (owner === 'default') return { own: null, fallback: (await findDefaultReserve(db)) ?? null };
  return findReserveRules(db, owner.merchantId);
}

/** Replaces the owner's rule. Existing reserves keep theirs. */
export async function setReserve(db: Queryable, owner: RuleOwner, rule: ReserveRule): Promise<void> {
  await db.run(upsertReserve(owner, rule));
}

/** Returns whether there was one. */
export async function clearReserve(db: Queryable, owner: RuleOwner): Promise<boolean> {
  return (await db.run(deleteReserve(owner))) === 1;
}

/** Changes the rate limits that are given, and leaves the others. */
export async function setRateLimits(
  db: Queryable,
  merchantId: string,
  limits: Partial<MerchantRateLimits>,
): Promise<void> {
  await db.run(updateRateLimits(merchantId, limits));
}

/** Changes what is given of a merchant's appearance on its payers' pages, and leaves the rest. */
export async function setAppearance(
  db: Queryable,
  merchantId: string,
  appearance: Partial<MerchantAppearance>,
): Promise<void> {
  await db.run(updateAppearance(merchantId, appearance));
}

/** Sets the addresses of payments that name none. Check them first (`checkUrls` of the payments). */
export async function setUrlDefaults(db: Queryable, merchantId: string, defaults: UrlDefaults): Promise<void> {
  await db.run(updateUrlDefaults(merchantId, defaults));
}
