import type { MoneyRequest } from '../start-request.ts';

/** A parsed request to pay out. */
export interface PayoutRequest extends MoneyRequest {
  /** What the client calls it; absent where that is the reference. */
  clientReference?: string;
  /** E.164 in the new form. */
  beneficiaryNumber: string;
  beneficiaryNumberAsSent: string;
  beneficiaryName: string | null;
  /** The network's transaction that it refunds; null for a payout. */
  refundedTransactionId: string | null;
}
