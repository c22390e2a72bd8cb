import { addMs, hourMs, dayMs } from '../kit/clock.ts';
import { noFee, type CollectionFee, type FeePayer, type FeeRule, type TransferFees } from './fees.ts';

export type Operation = 'collection' | 'transfer';

/** In place of a network's name: the rule is for all networks. */
export const allNetworks = 'all';

/** A stored fee rule, a merchant's or an operator's default. */
export interface StoredFeeRule extends FeeRule {
  operation: Operation;
  /** A network, or `allNetworks`. Collections have `allNetworks` only. */
  network: string;
}

/** `largest` limits one transfer, `daily` the total of a UTC day. */
export const limitKinds = ['largest', 'daily'] as const;

export type LimitKind = (typeof limitKinds)[number];

export interface StoredLimit {
  kind: LimitKind;
  /** In bututs. Null, only in a merchant's own limit, exempts the merchant from the default. */
  amountMinor: bigint | null;
}

/** Null is no limit. */
export interface TransferLimits {
  largestMinor: bigint | null;
  dailyMinor: bigint | null;
}

/** Whose rules: a merchant's, by its id, or the operator's defaults. */
export type RuleOwner = { merchantId: string } | 'default';

/** The rules of one merchant, or the operator's defaults. */
export interface Rules {
  fees: readonly StoredFeeRule[];
  limits: readonly StoredLimit[];
}

/** A merchant's own rules, and the defaults that apply where it has none. */
export interface MerchantRules {
  own: Rules;
  defaults: Rules;
}

export type RuleSource = 'merchant' | 'default';

/**
 * The fee rule that applies, and its source: the first of the merchant's own for the network, its own for all networks, the
 * operator's default for the network, and the default for all networks. So a merchant's agreed fee applies on every network,
 * whatever defaults the operator changes. Undefined is no fee.
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

/** The limit that applies, and its source: the merchant's own, even "none", takes precedence over the default. */
export function findLimit(
  { own, defaults }: MerchantRules,
  kind: LimitKind,
): { amountMinor: bigint | null; source: RuleSource } | undefined {
  const [ownLimit, defaultLimit] = [own, defaults].map(({ limits }) => limits.find((limit) => limit.kind === kind));
  if (ownLimit) return { amountMinor: ownLimit.amountMinor, source: 'merchant' };
  return defaultLimit && { amountMinor: defaultLimit.amountMinor, source: 'default' };
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

/** The networks with their own transfer rule, the merchant's or a default, in alphabetical order. */
export function networksNamed({ own, defaults }: MerchantRules): string[] {
  const named = [...own.fees, ...defaults.fees].filter(({ operation }) => operation === 'transfer');
  return [...new Set(named.map(({ network }) => network))].filter((network) => network !== allNetworks).toSorted();
}

function amountsOf({ percentHundredths, fixedMinor, minimumMinor, maximumMinor }: FeeRule = noFee): FeeRule {
  return { percentHundredths, fixedMinor, minimumMinor, maximumMinor };
}

/**
 * A part of each payment that is held for some time, so that a merchant who colludes with payers cannot withdraw all the money
 * that a network may reverse later.
 */
export interface ReserveRule {
  /** 100 is one percent; 0 is no reserve, whatever the default says. */
  percentHundredths: bigint;
  /** How long it is held, from the payment on. */
  hours: bigint;
  /** For how many days after the merchant's creation the rule applies; null is without end. */
  newForDays: bigint | null;
}

// A leap year and ten years; anything longer is taken for a typing error.
export const reserveHoursMax = 8_784n;
export const reserveDaysMax = 3_660n;

/** A merchant's own reserve rule, and the operator's default; null where there is none. */
export interface ReserveRules {
  own: ReserveRule | null;
  fallback: ReserveRule | null;
}

/** The rule that applies: the merchant's own; otherwise the default, only in live. */
export function resolveReserve({ own, fallback }: ReserveRules, testMode: boolean): ReserveRule | null {
  return own ?? (testMode ? null : fallback);
}

/** Which part of a payment paid at `paidAt` is held, and how long; null is none. */
export function reserveAt(
  { reserve, createdAt }: { reserve: ReserveRule | null; createdAt: Date },
  paidAt: Date,
): { percentHundredths: bigint; forMs: number } | null {
  if (reserve === null || reserve.percentHundredths === 0n || reserve.hours === 0n) return null;
  const { newForDays } = reserve;
  if (newForDays !== null && paidAt >= addMs(createdAt, Number(newForDays) * dayMs)) return null;
  return { percentHundredths: reserve.percentHundredths, forMs: Number(reserve.hours) * hourMs };
}
