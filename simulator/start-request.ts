import type { SimulatedNetwork } from './network.ts';

/** What every parsed request to move money has. */
export interface MoneyRequest {
  network: SimulatedNetwork;
  account: string;
  /** Under which it acts once: the client's key, or for a payout that of its batch with its number there. */
  reference: string;
  amountMinor: bigint;
  currency: string;
  description: string;
  callbackUrl: string;
}

/** A parsed request to collect. */
export interface StartRequest extends MoneyRequest {
  /** E.164 in the new form; null for a link that was opened without one. */
  payerNumber: string | null;
  payerNumberAsSent: string | null;
  expiresAt: Date;
  /** Where the payer of a link returns to. */
  returnUrl: string;
}
