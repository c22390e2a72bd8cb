import type { SimulatedNetwork } from './network.ts';

/** A parsed request to collect. */
export interface StartRequest {
  network: SimulatedNetwork;
  account: string;
  reference: string;
  amountMinor: bigint;
  currency: string;
  /** E.164 in the new form, or null. */
  payerNumber: string | null;
  payerNumberAsSent: string | null;
  description: string;
  expiresAt: Date;
  returnUrl: string;
  callbackUrl: string;
}
