import { AppError } from '../kit/app-error.ts';
import { addMs } from '../kit/clock.ts';
import { formatAmount } from '../kit/money.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { Connector } from '../networks/contract.ts';
import type { Charge } from '../payments/charge.ts';
import type { RefundContext } from './context.ts';

/** What is to be given back, as far as the way it goes depends on it. */
export interface RefundToSend {
  charge: Charge;
  amountMinor: bigint;
  /** Whether the network has refused to give this charge back before. */
  wasRefused: boolean;
}

/** How it goes: the network's own transaction that is given back, or a payout to the payer. */
export type ChosenRoute = { route: 'network'; originalReference: string } | { route: 'payout' };

/**
 * The network that collected it gives it back, where it can; else it is paid out to the payer's number. Throws AppError
 * `refund_not_possible`, which says why neither works.
 */
export function chooseRoute(context: RefundContext, merchant: Merchant, refund: RefundToSend): ChosenRoute {
  const connector = context.networks.find(refund.charge.network, merchant.testMode);
  const byNetwork = connector === undefined ? null : networkRoute(context, connector, refund);
  if (byNetwork !== null && !refund.wasRefused) return byNetwork;
  const payout = payoutRoute(connector, refund);
  if (typeof payout !== 'string') return payout;
  // Asked again it may answer otherwise, and there is no other way.
  if (byNetwork !== null) return byNetwork;
  throw new AppError('refund_not_possible', payout);
}

function networkRoute(
  context: RefundContext,
  { refunds }: Connector,
  { charge, amountMinor }: RefundToSend,
): ChosenRoute | null {
  const { networkTransactionId: originalReference, paidAt } = charge;
  if (!refunds || originalReference === null || paidAt === null) return null;
  // Another amount, or a second payment, was accepted: there is not the one transaction that brought it all.
  if (charge.amountReceivedMinor !== null) return null;
  const { partial, withinMs } = refunds.capabilities;
  if (!partial && amountMinor !== charge.amountPaidMinor) return null;
  return context.clock.now() <= addMs(paidAt, withinMs) ? { route: 'network', originalReference } : null;
}

/** The payout, or why there can be none. */
function payoutRoute(connector: Connector | undefined, { charge, amountMinor }: RefundToSend): ChosenRoute | string {
  const name = connector?.capabilities.displayName ?? charge.network;
  const cannot = `${name} cannot give this payment back`;
  const yourself = 'Return the money to the payer yourself.';
  if (!connector?.payouts) return `${cannot}, and it pays nothing out. ${yourself}`;
  if (charge.accountCanonical === null) {
    return `${cannot}, and the payer’s number is not known, so it cannot be paid out either. ${yourself}`;
  }
  const { amountStepMinor } = connector.payouts.capabilities;
  if (amountMinor % amountStepMinor !== 0n) {
    return `${cannot}, and it pays out multiples of ${formatAmount(amountStepMinor)}. Refund such an amount.`;
  }
  return { route: 'payout' };
}
