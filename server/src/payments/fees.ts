import { multiplyPercent, roundUpToWhole } from '../kit/money.ts';
import type { CollectionFee } from '../merchants/merchant.ts';

const dalasi = 100n;

/**
 * The fee in bututs for collecting `amountMinor`: percent (rounded half up) and fixed part, kept within the rule's
 * bounds. A customer-paid fee on a whole amount is rounded up to a whole dalasi, because networks take whole dalasi.
 */
export function collectionFee(rule: CollectionFee, amountMinor: bigint): bigint {
  const raw = multiplyPercent(amountMinor, rule.percentHundredths, 'half-up') + rule.fixedMinor;
  const atLeast = raw < rule.minimumMinor ? rule.minimumMinor : raw;
  const fee = rule.maximumMinor !== null && atLeast > rule.maximumMinor ? rule.maximumMinor : atLeast;
  return rule.payer === 'customer' && amountMinor % dalasi === 0n ? roundUpToWhole(fee) : fee;
}
