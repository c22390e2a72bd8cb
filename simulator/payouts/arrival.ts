import { findSimulatedNetwork } from '../network.ts';
import { payoutAt, type Payout } from './payout.ts';
import type { Float, FloatState } from './queries.ts';

/** Money that arrived, as the beneficiary's simulated phone shows it. */
export interface Arrival {
  payoutId: string;
  /** The merchant's short id. */
  account: string;
  network: string;
  networkName: string;
  amountMinor: bigint;
  currency: string;
  /** The sender's description. */
  description: string;
  transactionId: string;
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
export interface PhoneFloat {
  /** The merchant's short id. */
  account: string;
  network: string;
  networkName: string;
  state: FloatState;
  changedAt: Date;
}

export function phoneFloatOf({ account, network, state, changedAt }: Float): PhoneFloat {
  return { account, network, networkName: nameOf(network), state, changedAt };
}

function nameOf(network: string): string {
  return findSimulatedNetwork(network)?.displayName ?? network;
}
