import { addMs } from '../kit/clock.ts';
import { noFee } from './fees.ts';
import type { CollectionFee, FeePayer, FeeRule, TransferFees } from './fees.ts';

export type Operation = 'collection' | 'transfer';

/** In place of a network: a rule for all of them. */
export const allNetworks = 'all';

/** A fee rule as it is stored, for a merchant or as the operator's default. */
export interface StoredFeeRule extends FeeRule {
  operation: Operation;
  /** A network, or `allNetworks`, which is the only one for collecting. */
  network: string;
}

/** `largest` bounds one transfer, `daily` all transfers of a UTC day. */
export type LimitKind = 'largest' | 'daily';

export interface StoredLimit {
  kind: LimitKind;
  /** In bututs; null, which only a merchant's own may be, is no limit whatever the default says. */
  amountMinor: bigint | null;
}

/** Null is no limit. */
export interface TransferLimits {
  largestMinor: bigint | null;
  dailyMinor: bigint | null;
}

/** Rules of one merchant, or the operator's defaults. */
export interface Rules {
  fees: readonly StoredFeeRule[];
  limits: readonly StoredLimit[];
}

/** What applies to a merchant: its own rules, and the defaults where it has none. */
export interface MerchantRules {
  own: Rules;
  defaults: Rules;
}

export type RuleSource = 'merchant' | 'default';

/**
 * The fee rule that applies, and whose it is. In this order: the merchant's own for the network, the merchant's own for
 * all networks, the operator's default for the network, the default for all networks. So what was agreed with a merchant
 * holds on every network, whatever the operator changes for the others. Undefined is no fee.
 */
export function findFeeRule(
  { own, defaults }: MerchantRules,
  operation: Operation,
  network: string,
): { rule: FeeRule; source: RuleSource } | undefined {
  const candidates = [
    { rules: own, source: 'merchant', on: network },
    { rules: own, source: 'merchant', on: allNetworks },
    { rules: defaults, source: 'default', on: network },
    { rules: defaults, source: 'default', on: allNetworks },
  ] as const;
  for (const { rules, source, on } of candidates) {
    const rule = rules.fees.find((stored) => stored.operation === operation && stored.network === on);
    if (rule) return { rule, source };
  }
  return undefined;
}

/** The limit that applies, and whose it is: the merchant's own, also where it says "none", before the default. */
export function findLimit(
  { own, defaults }: MerchantRules,
  kind: LimitKind,
): { amountMinor: bigint | null; source: RuleSource } | undefined {
  const [ofMerchant, ofOperator] = [own, defaults].map(({ limits }) => limits.find((limit) => limit.kind === kind));
  if (ofMerchant) return { amountMinor: ofMerchant.amountMinor, source: 'merchant' };
  return ofOperator && { amountMinor: ofOperator.amountMinor, source: 'default' };
}

export function resolveCollectionFee(rules: MerchantRules, payer: FeePayer): CollectionFee {
  return { ...amountsOf(findFeeRule(rules, 'collection', allNetworks)?.rule), payer };
}

export function resolveTransferFees(rules: MerchantRules): TransferFees {
  const ruleOn = (network: string): FeeRule => amountsOf(findFeeRule(rules, 'transfer', network)?.rule);
  return {
    byNetwork: new Map(networksNamed(rules).map((network) => [network, ruleOn(network)])),
    otherwise: ruleOn(allNetworks),
  };
}

export function resolveTransferLimits(rules: MerchantRules): TransferLimits {
  return {
    largestMinor: findLimit(rules, 'largest')?.amountMinor ?? null,
    dailyMinor: findLimit(rules, 'daily')?.amountMinor ?? null,
  };
}

/** The networks that have a transfer rule of their own, the merchant's or a default, in the order of their names. */
export function networksNamed({ own, defaults }: MerchantRules): string[] {
  const named = [...own.fees, ...defaults.fees].filter(({ operation }) => operation === 'transfer');
  return [...new Set(named.map(({ network }) => network))].filter((network) => network !== allNetworks).toSorted();
}

function amountsOf({ percentHundredths, fixedMinor, minimumMinor, maximumMinor }: FeeRule = noFee): FeeRule {
  return { percentHundredths, fixedMinor, minimumMinor, maximumMinor };
}

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
  { reserve, createdAt }: { reserve: ReserveRule | null; createdAt: Date },
  paidAt: Date,
): { percentHundredths: bigint; forMs: number } | null {
  if (reserve === null || reserve.percentHundredths === 0n || reserve.hours === 0n) return null;
  const { newForDays } = reserve;
  if (newForDays !== null && paidAt >= addMs(createdAt, Number(newForDays) * dayMs)) return null;
  return { percentHundredths: reserve.percentHundredths, forMs: Number(reserve.hours) * hourMs };
}
