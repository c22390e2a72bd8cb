import type { SimulatedNetwork } from '../network.ts';

/** A parsed request to pay out. */
export interface PayoutRequest {
  network: SimulatedNetwork;
  account: string;
  /** Under which it is paid once: the client's key, or that of its batch with its number there. */
  reference: string;
  /** What the client calls it; absent where that is the reference. */
  clientReference?: string;
  amountMinor: bigint;
  currency: string;
  /** E.164 in the new form. */
  beneficiaryNumber: string;
  beneficiaryNumberAsSent: string;
  beneficiaryName: string | null;
  description: string;
  callbackUrl: string;
  /** The network's transaction that it refunds; null for a payout. */
  refundedTransactionId: string | null;
}
