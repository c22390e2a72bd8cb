import type { Transaction } from '../kit/db.ts';
import { lockBalances, post } from '../ledger/post.ts';
import type { Receipt } from '../networks/contract.ts';
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

/**
 * The network took a collection back. The merchant's balance gives what it has, and owes the rest: what the merchant
 * spent already is no longer ours to return.
 */
export async function bookReversed(
  tx: Transaction,
  context: PaymentContext,
  charge: Charge,
  railAccount: string,
): Promise<{ shortfallMinor: bigint }> {
  const { merchantId, currency } = charge;
  const share = merchantShareMinor(charge);
  const balances = await lockBalances(tx, { merchantId, currency }, ['fees', 'payable_available']);
  const available = balances.get('payable_available') ?? 0n;
  const taken = available < share ? available : share;
  const float = `float:${railAccount}` as const;
  await post(tx, context, {
    ...postingOf(context, charge),
    flow: 'reversed',
    movements: [
      { debit: 'payable_available', credit: float, amountMinor: taken },
      { debit: 'receivable_merchant', credit: float, amountMinor: share - taken },
      { debit: 'fees', credit: float, amountMinor: charge.feeMinor },
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
