import type { Transaction } from '../kit/db.ts';
import { lockBalances, post } from '../ledger/post.ts';
import type { Receipt } from '../networks/contract.ts';
import { partsOf, receivedMinor } from './charge.ts';
import type { Charge } from './charge.ts';
import type { PaymentContext } from './context.ts';

/** What of the payment stays with the merchant: what was paid, less the fee. */
export function merchantShareMinor(charge: Pick<Charge, 'amountPaidMinor' | 'feeMinor'>): bigint {
  return charge.amountPaidMinor - charge.feeMinor;
}

/** Collected money: the network's float against the fee and the merchant; what the network kept is a cost. */
export async function bookCollected(
  tx: Transaction,
  context: PaymentContext,
  charge: Charge,
  from: { railAccount: string; receipt: Receipt },
): Promise<void> {
  const float = `float:${from.railAccount}` as const;
  await post(tx, context, {
    ...postingOf(context, charge),
    flow: 'collected',
    movements: [
      { debit: float, credit: 'fees', amountMinor: charge.feeMinor },
      { debit: float, credit: 'payable_available', amountMinor: merchantShareMinor(charge) },
      { debit: 'network_costs', credit: float, amountMinor: from.receipt.networkFeeMinor },
    ],
  });
}

/** Money that came but may not be given to anyone yet: another amount, a second payment. */
export async function bookSuspense(
  tx: Transaction,
  context: PaymentContext,
  charge: Charge,
  from: { railAccount: string; receipt: Receipt },
): Promise<void> {
  const float = `float:${from.railAccount}` as const;
  await post(tx, context, {
    ...postingOf(context, charge),
    currency: from.receipt.currency,
    flow: 'suspense',
    movements: [
      { debit: float, credit: 'suspense', amountMinor: from.receipt.amountMinor },
      { debit: 'network_costs', credit: float, amountMinor: from.receipt.networkFeeMinor },
    ],
  });
}

/** Money of a case, as it stands in `suspense`. */
interface SuspendedMoney {
  amountMinor: bigint;
  currency: string;
}

/** Money in `suspense` is the charge's after all: the fee as far as it has not been taken, the rest to the merchant. */
export async function bookAccepted(
  tx: Transaction,
  context: PaymentContext,
  charge: Charge,
  { before, after }: { before: bigint; after: bigint },
): Promise<void> {
  const [had, has] = [partsOf(charge, before), partsOf(charge, after)];
  await post(tx, context, {
    ...postingOf(context, charge),
    flow: 'accepted',
    movements: [
      { debit: 'suspense', credit: 'fees', amountMinor: has.feeMinor - had.feeMinor },
      { debit: 'suspense', credit: 'payable_available', amountMinor: has.merchantMinor - had.merchantMinor },
    ],
  });
}

/** Money in `suspense` has left the network's float: returned by a person, or taken back by the network. */
export async function bookLeftSuspense(
  tx: Transaction,
  context: PaymentContext,
  charge: Charge,
  left: { flow: 'returned' | 'reversed'; railAccount: string; money: SuspendedMoney },
): Promise<void> {
  const { currency, amountMinor } = left.money;
  await post(tx, context, {
    ...postingOf(context, charge),
    currency,
    flow: left.flow,
    movements: [{ debit: 'suspense', credit: `float:${left.railAccount}`, amountMinor }],
  });
}

/**
 * The network took a collection back, or the part of it that one of its transactions had brought. The merchant's
 * balance gives what it has, and owes the rest: what the merchant spent already is no longer ours to return.
 */
export async function bookReversed(
  tx: Transaction,
  context: PaymentContext,
  charge: Charge,
  from: { railAccount: string; takenMinor: bigint },
): Promise<{ shortfallMinor: bigint }> {
  const { merchantId, currency } = charge;
  const [had, has] = [partsOf(charge, receivedMinor(charge)), partsOf(charge, receivedMinor(charge) - from.takenMinor)];
  const share = had.merchantMinor - has.merchantMinor;
  const balances = await lockBalances(tx, { merchantId, currency }, ['fees', 'payable_available']);
  const available = balances.get('payable_available') ?? 0n;
  const taken = available < share ? available : share;
  const float = `float:${from.railAccount}` as const;
  await post(tx, context, {
    ...postingOf(context, charge),
    flow: 'reversed',
    movements: [
      { debit: 'payable_available', credit: float, amountMinor: taken },
      { debit: 'receivable_merchant', credit: float, amountMinor: share - taken },
      { debit: 'fees', credit: float, amountMinor: had.feeMinor - has.feeMinor },
    ],
  });
  return { shortfallMinor: share - taken };
}

function postingOf(context: PaymentContext, charge: Charge) {
  return {
    merchantId: charge.merchantId,
    currency: charge.currency,
    source: { type: 'charge', id: charge.id },
    at: context.clock.now(),
  };
}
