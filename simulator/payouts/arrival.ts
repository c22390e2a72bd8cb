import { findSimulatedNetwork } from '../network.ts';
import { payoutAt, type Payout } from './payout.ts';
import type { Float } from './queries.ts';

type ShownField = 'account' | 'network' | 'amountMinor' | 'currency' | 'description' | 'transactionId';

/** Money that arrived, as the beneficiary's simulated phone shows it. */
export interface Arrival extends Pick<Payout, ShownField> {
  payoutId: string;
  networkName: string;
  arrivedAt: Date;
  /** When the network reversed it. */
  reversedAt: Date | null;
}

/** Undefined until the money has arrived, or while the network pretends not to know the payout. */
export function arrivalOf(stored: Payout, now: Date): Arrival | undefined {
  const { status } = payoutAt(stored, now);
  if (stored.visibleAt > now || (status !== 'completed' && status !== 'reversed')) return undefined;
  return {
    payoutId: stored.id,
    account: stored.account,
    network: stored.network,
    networkName: nameOf(stored.network),
    amountMinor: stored.amountMinor,
    currency: stored.currency,
    description: stored.description,
    transactionId: stored.transactionId,
    arrivedAt: (stored.plannedStatus === 'completed' ? stored.plannedAt : null) ?? stored.createdAt,
    reversedAt: status === 'reversed' ? stored.plannedAt : null,
  };
}

/** A float that has been empty before; the simulated phone of its number offers to fill it. */
export interface PhoneFloat extends Omit<Float, 'beneficiaryNumber'> {
  networkName: string;
}

export function phoneFloatOf(float: Float): PhoneFloat {
  return { ...float, networkName: nameOf(float.network) };
}

function nameOf(network: string): string {
  return findSimulatedNetwork(network)?.displayName ?? network;
}
