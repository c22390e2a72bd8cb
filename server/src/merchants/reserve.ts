import { addMs } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import type { RuleOwner } from './manage-rules.ts';
import type { Merchant } from './merchant.ts';
import {
  deleteDefaultReserve,
  deleteReserve,
  findDefaultReserve,
  findReserveRules,
  upsertDefaultReserve,
  upsertReserve,
} from './queries/reserve.ts';

/**
 * A part of each payment that is kept back for some time, so that a merchant who works together with payers has not paid
 * out all of what networks take back later.
 */
export interface ReserveRule {
  /** 100 is one percent; 0 is no reserve, whatever the default says. */
  percentHundredths: bigint;
  /** From the payment on. */
  hours: bigint;
  /** How many days after its creation a merchant counts as new; null is for ever. */
  newForDays: bigint | null;
}

/** A merchant's own reserve rule, and the operator's default; null where there is none. */
export interface ReserveRules {
  own: ReserveRule | null;
  fallback: ReserveRule | null;
}

const hourMs = 60 * 60 * 1_000;
const dayMs = 24 * hourMs;

/** What applies to a merchant: its own rule; without one the default, in live only. */
export function resolveReserve({ own, fallback }: ReserveRules, testMode: boolean): ReserveRule | null {
  return own ?? (testMode ? null : fallback);
}

/** What is kept of a payment that is paid at `paidAt`, and for how long; null is nothing. */
export function reserveAt(
  { reserve, createdAt }: Pick<Merchant, 'reserve' | 'createdAt'>,
  paidAt: Date,
): { percentHundredths: bigint; forMs: number } | null {
  if (reserve === null || reserve.percentHundredths === 0n || reserve.hours === 0n) return null;
  const { newForDays } = reserve;
  if (newForDays !== null && paidAt >= addMs(createdAt, Number(newForDays) * dayMs)) return null;
  return { percentHundredths: reserve.percentHundredths, forMs: Number(reserve.hours) * hourMs };
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
