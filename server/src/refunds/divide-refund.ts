import type { ChargeParts } from '../payments/charge.ts';

/** A charge and its refunds so far. Amounts are bututs. */
export interface PartlyRefunded {
  receivedMinor: bigint;
  /** How it was shared. */
  receivedParts: ChargeParts;
  /** A fee that the customer paid on top is refunded with the amount; one that the business paid is not. */
  isFeeReturned: boolean;
  /** What has been refunded or is pending. */
  refundedMinor: bigint;
  /** Of that, from the fee and from each sub-account. */
  returnedFeeMinor: bigint;
  returnedByShare: ReadonlyMap<string, bigint>;
}

/**
 * Divides the next refund of `amountMinor` (docs/refunds.md, "Who bears it"). Each share returns floor(share × refunded so
 * far ÷ received) less what it returned before, so all of it, to the butut, once everything is refunded; a returned fee the
 * same. The merchant gives the rest, which is a few bututs below zero where shares offset roundings that the merchant covered.
 *
 * After a failed refund a share can have returned more than its part so far: then it returns nothing until its part has caught
 * up.
 */
export function divideRefund(charge: PartlyRefunded, amountMinor: bigint): ChargeParts {
  const { receivedMinor, receivedParts } = charge;
  const soFar = charge.refundedMinor + amountMinor;
  const next = (wholeMinor: bigint, returnedMinor: bigint): bigint => {
    const due = (wholeMinor * soFar) / receivedMinor - returnedMinor;
    return due > 0n ? due : 0n;
  };
  const feeMinor = charge.isFeeReturned ? next(receivedParts.feeMinor, charge.returnedFeeMinor) : 0n;
  const shares = receivedParts.shares.map((share) => ({
    ...share,
    amountMinor: next(share.amountMinor, charge.returnedByShare.get(share.subAccountId) ?? 0n),
  }));
  const merchantMinor = shares.reduce((rest, share) => rest - share.amountMinor, amountMinor - feeMinor);
  return { feeMinor, shares, merchantMinor };
}
