import type { Queryable } from '../kit/db.ts';
import type { FeePayer } from './fees.ts';
import {
  deleteDefaultFeeRule,
  deleteDefaultLimit,
  deleteFeeRule,
  deleteLimit,
  updateFeePayer,
  upsertDefaultFeeRule,
  upsertDefaultLimit,
  upsertFeeRule,
  upsertLimit,
} from './queries.ts';
import {
  deleteDefaultReserve,
  deleteReserve,
  findDefaultReserve,
  findReserveRules,
  upsertDefaultReserve,
  upsertReserve,
} from './queries/reserve.ts';
import type { LimitKind, ReserveRule, ReserveRules, StoredFeeRule, StoredLimit } from './rules.ts';

export { findDefaultRules, findMerchantRules } from './queries.ts';

/** Whose rules: a merchant's, by its id, or the operator's defaults. */
export type RuleOwner = { merchantId: string } | 'default';

// Processes remember a merchant for three seconds (merchant-directory.ts); after that a change holds everywhere. What was
// created before keeps its fee.

/** Puts a fee rule in place of the owner's for the same operation and network. */
export async function setFeeRule(db: Queryable, owner: RuleOwner, rule: StoredFeeRule): Promise<void> {
  await db.run(owner === 'default' ? upsertDefaultFeeRule(rule) : upsertFeeRule(owner.merchantId, rule));
}

/** Answers whether there was one. */
export async function clearFeeRule(
  db: Queryable,
  owner: RuleOwner,
  key: Pick<StoredFeeRule, 'operation' | 'network'>,
): Promise<boolean> {
  const statement = owner === 'default' ? deleteDefaultFeeRule(key) : deleteFeeRule(owner.merchantId, key);
  return (await db.run(statement)) === 1;
}

/** Who pays the fees of a merchant's collecting. There is no default to set: it is the business. */
export async function setFeePayer(db: Queryable, merchantId: string, payer: FeePayer): Promise<void> {
  await db.run(updateFeePayer(merchantId, payer));
}

/** Puts a limit in place of the owner's of the same kind. */
export async function setLimit(db: Queryable, owner: RuleOwner, limit: StoredLimit): Promise<void> {
  await db.run(owner === 'default' ? upsertDefaultLimit(limit) : upsertLimit(owner.merchantId, limit));
}

/** Answers whether there was one. */
export async function clearLimit(db: Queryable, owner: RuleOwner, kind: LimitKind): Promise<boolean> {
  const statement = owner === 'default' ? deleteDefaultLimit(kind) : deleteLimit(owner.merchantId, kind);
  return (await db.run(statement)) === 1;
}

/** The rules that are stored for the owner now, with the default behind them. */
export async function findReserves(db: Queryable, owner: RuleOwner): Promise<ReserveRules> {
  if (owner === 'default') return { own: null, fallback: (await findDefaultReserve(db)) ?? null };
  return findReserveRules(db, owner.merchantId);
}

/** Puts a rule in place of the owner's. Payments that were made before keep theirs. */
export async function setReserve(db: Queryable, owner: RuleOwner, rule: ReserveRule): Promise<void> {
  await db.run(owner === 'default' ? upsertDefaultReserve(rule) : upsertReserve(owner.merchantId, rule));
}

/** Answers whether there was one. */
export async function clearReserve(db: Queryable, owner: RuleOwner): Promise<boolean> {
  return (await db.run(owner === 'default' ? deleteDefaultReserve() : deleteReserve(owner.merchantId))) === 1;
}
