import type { ChargeParts } from '../payments/charge.ts';

/** A charge that a part is given back of, and what was given back before. Amounts are bututs. */
export interface PartlyRefunded {
  /** What came of the payer. */
  receivedMinor: bigint;
  /** Whose that was. */
  receivedParts: ChargeParts;
  /** A fee that the customer paid on top is given back with the amount; one that the business paid is not. */
  isFeeReturned: boolean;
  /** What was given back already, or is on its way. */
  refundedMinor: bigint;
  /** Of that, by the fee and by each sub-account. */
  returnedFeeMinor: bigint;
  returnedByShare: ReadonlyMap<string, bigint>;
}

/**
 * Who gives how much of the next `amountMinor` (docs/refunds.md, "Who gives it"). Each share gives back
 * floor(share × refunded so far ÷ what came) less what it gave before, so it has given all of itself, to the butut, when
 * everything is refunded; a returned fee the same. The merchant gives the rest, which is a few bututs below zero where
 * shares make up for roundings that the merchant had given.
 *
 * After a refund failed, a share may have given more than its part so far: then it gives nothing, until its part has
 * caught up.
 */
export function divideRefund(charge: PartlyRefunded, amountMinor: bigint): ChargeParts {
  const { receivedMinor, receivedParts } = charge;
  const soFar = charge.refundedMinor + amountMinor;
  const next = (wholeMinor: bigint, givenMinor: bigint): bigint => {
    const due = (wholeMinor * soFar) / receivedMinor - givenMinor;
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
