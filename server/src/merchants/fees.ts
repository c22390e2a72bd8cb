import { dalasi, formatAmount, multiplyPercent, percentToJson, roundUpToWhole } from '../kit/money.ts';

/** A fee in bututs: a percentage and a fixed part, within bounds. */
export interface FeeRule {
  percentHundredths: bigint;
  fixedMinor: bigint;
  minimumMinor: bigint;
  /** Null is no upper bound. */
  maximumMinor: bigint | null;
}

/** The default: a business that hosts Dalasi for itself charges itself nothing. */
export const noFee: FeeRule = { percentHundredths: 0n, fixedMinor: 0n, minimumMinor: 0n, maximumMinor: null };

export type FeePayer = 'business' | 'customer';

/** Collections cost the same on every network, because the fee is fixed before the payer chooses one. */
export interface CollectionFee extends FeeRule {
  payer: FeePayer;
}

export interface TransferFees {
  byNetwork: ReadonlyMap<string, FeeRule>;
  /** For the other networks. */
  otherwise: FeeRule;
}

/** The fee in bututs for `amountMinor`: percent (rounded half up) and fixed part, within the rule's bounds. */
export function feeOf(rule: FeeRule, amountMinor: bigint): bigint {
  const raw = multiplyPercent(amountMinor, rule.percentHundredths, 'half-up') + rule.fixedMinor;
  const atLeast = raw < rule.minimumMinor ? rule.minimumMinor : raw;
  return rule.maximumMinor !== null && atLeast > rule.maximumMinor ? rule.maximumMinor : atLeast;
}

/**
 * The fee for collecting `amountMinor`. A customer-paid fee on a whole amount is rounded up to a whole dalasi, because networks
 * accept whole dalasi; where that is more than the rule's maximum, it is the most whole dalasi within it.
 */
export function collectionFee(rule: CollectionFee, amountMinor: bigint): bigint {
  const fee = feeOf(rule, amountMinor);
  if (rule.payer !== 'customer' || amountMinor % dalasi !== 0n) return fee;
  const whole = roundUpToWhole(fee);
  const { maximumMinor } = rule;
  return maximumMinor !== null && whole > maximumMinor ? maximumMinor - (maximumMinor % dalasi) : whole;
}

/** The fee for transferring `amountMinor` through a network, charged on top of it. */
export function transferFee(merchant: { transferFees: TransferFees }, network: string, amountMinor: bigint): bigint {
  const { byNetwork, otherwise } = merchant.transferFees;
  return feeOf(byNetwork.get(network) ?? otherwise, amountMinor);
}

/** As people read it: `1.5% + D5.00, at least D10.00`. */
export function feeInWords({ percentHundredths, fixedMinor, minimumMinor, maximumMinor }: FeeRule): string {
  const parts = [
    ...(percentHundredths > 0n ? [`${percentToJson(percentHundredths)}%`] : []),
    ...(fixedMinor > 0n ? [formatAmount(fixedMinor)] : []),
  ];
  const bounds = [
    ...(minimumMinor > 0n ? [`at least ${formatAmount(minimumMinor)}`] : []),
    ...(maximumMinor === null ? [] : [`at most ${formatAmount(maximumMinor)}`]),
  ];
  return [parts.length === 0 ? 'No fee' : parts.join(' + '), ...bounds].join(', ');
}
