import type { Queryable } from '../kit/db.ts';
import { partsOf, receivedMinor, type Charge } from './charge.ts';
import type { Intent } from './intent.ts';
import { listPaidCharges } from './queries/charges.ts';

/** What came in for a payment, and what of it left again, by every attempt that was paid. Amounts are bututs. */
export interface PaidMoney {
  paidMinor: bigint;
  /** Of `paidMinor`: it is in no balance. */
  receivedDirectlyMinor: bigint;
  feeMinor: bigint;
  refundedMinor: bigint;
  /** What networks took back, and what statements contradicted. */
  reversedMinor: bigint;
}

/** By the ids of the payments; those that nobody has paid have no entry. */
export async function readPaidMoney(
  db: Queryable,
  merchantId: string,
  intents: readonly Intent[],
): Promise<ReadonlyMap<string, PaidMoney>> {
  const byId = new Map(intents.map((intent) => [intent.id, intent]));
  const charges = intents.length === 0 ? [] : await listPaidCharges(db, merchantId, [...byId.keys()]);
  const sums = new Map<string, PaidMoney>();
  for (const charge of charges) {
    const paidMinor = receivedMinor(charge);
    const { feeMinor } = partsOf(charge, byId.get(charge.intentId)?.shares ?? [], paidMinor);
    const before = sums.get(charge.intentId) ?? nothingPaid;
    sums.set(charge.intentId, {
      paidMinor: before.paidMinor + paidMinor,
      receivedDirectlyMinor: before.receivedDirectlyMinor + (charge.receivedDirectly ? paidMinor : 0n),
      feeMinor: before.feeMinor + feeMinor,
      refundedMinor: before.refundedMinor + charge.amountRefundedMinor,
      reversedMinor: before.reversedMinor + reversedOf(charge),
    });
  }
  return sums;
}

/** What the merchant had returned of money in its own hands cannot leave again. */
function reversedOf(charge: Charge): bigint {
  if (charge.status !== 'reversed') return charge.amountReversedMinor;
  return receivedMinor(charge) - (charge.receivedDirectly ? charge.amountRefundedMinor : 0n);
}

const nothingPaid: PaidMoney = {
  paidMinor: 0n,
  receivedDirectlyMinor: 0n,
  feeMinor: 0n,
  refundedMinor: 0n,
  reversedMinor: 0n,
};
