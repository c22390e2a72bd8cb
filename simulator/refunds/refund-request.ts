import type { SimulatedNetwork } from '../network.ts';

/** A parsed request to refund a collection. */
export interface RefundRequest {
  network: SimulatedNetwork;
  account: string;
  reference: string;
  /** The network's own transaction that paid the collection. */
  transactionId: string;
  amountMinor: bigint;
  currency: string;
  description: string;
  callbackUrl: string;
}
