import type { SimulatedNetwork } from './network.ts';

/** A parsed request to collect. */
export interface StartRequest {
  network: SimulatedNetwork;
  account: string;
  reference: string;
  amountMinor: bigint;
  currency: string;
  /** E.164 in the new form; null for a link that was opened without one. */
  payerNumber: string | null;
  payerNumberAsSent: string | null;
  description: string;
  expiresAt: Date;
  /** Where the payer of a link returns to. */
  returnUrl: string;
  callbackUrl: string;
}
