import { AppError } from '../api/app-error.ts';
import { addMs } from '../kit/clock.ts';
import { formatAmount } from '../kit/money.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { Connector, PayoutConnector } from '../networks/contract.ts';
import { networkName } from '../networks/known-networks.ts';
import { findCollecting, ofNetwork } from '../networks/registry.ts';
import type { Charge } from '../payments/charge.ts';
import type { RefundContext } from './refund.ts';

interface RefundToSend {
  charge: Charge;
  amountMinor: bigint;
  /** Whether the network has refused to refund this charge before. */
  wasRefused: boolean;
}

/** The network refunds its own transaction, or the refund is a payout to the payer. */
export type ChosenRoute = { railAccount: string } & (
  | { route: 'network'; originalReference: string }
  | { route: 'payout' }
  | { route: 'record' }
);

/**
 * The network that collected the payment refunds it where it can; else the refund is paid out to the payer's number. Money that went
 * straight to the merchant is returned by the merchant. Throws
 * AppError `refund_not_possible`, which says why neither works.
 */
export function chooseRoute(
  { networks, clock }: Pick<RefundContext, 'networks' | 'clock'>,
  merchant: Merchant,
  refund: RefundToSend,
): ChosenRoute {
  const { receivedDirectly, railAccount } = refund.charge;
  if (receivedDirectly && railAccount !== null) return { railAccount, route: 'record' };
  const collector = findCollecting(networks, merchant, refund.charge);
  const byNetwork = collector === undefined ? null : networkRoute(collector, refund, clock.now());
  if (byNetwork !== null && !refund.wasRefused) return byNetwork;
  const payer = ofNetwork(networks.payingOut(merchant), refund.charge.network);
  const payout = payoutRoute(payer, refund);
  if (typeof payout !== 'string') return payout;
  // The network may accept a second request, and there is no other route.
  if (byNetwork !== null) return byNetwork;
  if (networks.pausedPayouts(merchant).includes(refund.charge.network)) {
    const message = `The operator of this server has paused payouts to ${networkName(refund.charge.network)}, by which the payer gets the money. Send the same request again later.`;
    throw new AppError('refund_not_possible', message, { stored: false });
  }
  throw new AppError('refund_not_possible', payout);
}

function networkRoute(
  { capabilities, refunds }: Connector,
  { charge, amountMinor }: RefundToSend,
  now: Date,
): ChosenRoute | null {
  const { networkTransactionId: originalReference, paidAt } = charge;
  if (!refunds || originalReference === null || paidAt === null) return null;
  // Another amount, or a second payment, was accepted: no single transaction brought all of it.
  if (charge.amountReceivedMinor !== null) return null;
  const { partial, withinMs } = refunds.capabilities;
  if (!partial && amountMinor !== charge.amountPaidMinor) return null;
  return now <= addMs(paidAt, withinMs)
    ? { railAccount: capabilities.railAccount, route: 'network', originalReference }
    : null;
}

/** The payout, or why it is not possible. */
function payoutRoute(
  connector: PayoutConnector | undefined,
  { charge, amountMinor }: RefundToSend,
): ChosenRoute | string {
  const name = networkName(charge.network);
  const cannot = `${name} cannot refund this payment`;
  const yourself = 'Return the money to the payer yourself.';
  if (!connector) return `${cannot}, and it has no payouts. ${yourself}`;
  if (charge.accountCanonical === null) {
    return `${cannot}, and the payer’s number is not known, so it cannot be paid out either. ${yourself}`;
  }
  const { amountStepMinor } = connector.payouts.capabilities;
  if (amountMinor % amountStepMinor !== 0n) {
    return `${cannot}, and it pays out multiples of ${formatAmount(amountStepMinor)}. Refund such an amount.`;
  }
  return { railAccount: connector.capabilities.railAccount, route: 'payout' };
}
