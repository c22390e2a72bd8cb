import type { NextAction } from '../networks/contract.ts';
import type { ChargeFailureCode, ChargeProgress, ChargeStatus } from './charge.ts';
import type { IntentStatus } from './intent.ts';

/** What the payer is shown: everything a page needs and nothing a payer must not know. */
export interface CheckoutView {
  merchantId: string;
  intentId: string;
  merchantName: string;
  testMode: boolean;
  status: IntentStatus;
  /** The counter's name, where it is paid at one. */
  counterName: string | null;
  title: string | null;
  description: string | null;
  currency: string;
  amountMinor: bigint;
  /** What the payer pays on top; 0 when the business pays the fee. */
  feeMinor: bigint;
  totalMinor: bigint;
  expiresAt: Date;
  /**
   * Where "back to the shop" leads: with `payment_intent_id` and `status` added where it can be linked, else as the
   * merchant sent it.
   */
  returnUrl: string | null;
  /** The same for a payer who cancelled. */
  cancelUrl: string | null;
  attemptsLeft: number;
  networks: CheckoutNetwork[];
  /** The attempt that paid; else one whose money waits for a person; else the newest. */
  charge: CheckoutCharge | null;
}

export interface CheckoutNetwork {
  id: string;
  displayName: string;
  numberRequired: boolean;
}

export interface CheckoutCharge {
  id: string;
  networkId: string;
  networkName: string;
  /** `.... 4725`, empty while unknown. */
  maskedNumber: string;
  /** The whole number, of test payments only: the simulated phone is found by it. */
  simulatedNumber: string | null;
  status: ChargeStatus;
  /** `unknown` while the network has not answered: shown as waiting, never as failed. */
  progress: ChargeProgress;
  nextAction: NextAction | null;
  /** Why it failed; the page says it in the payer's words. */
  failureCode: ChargeFailureCode | null;
  /** Set while a person has to look at it, for example another amount than asked for. */
  underReview: boolean;
  transactionReference: string;
  /** What staff compare with their message. */
  shortCode: string;
  /** What the payer paid: what came, once anything has. */
  amountPaidMinor: bigint;
  /** What came while it waits for a person; null when nothing did, or in another currency. */
  arrivedMinor: bigint | null;
  paidAt: Date | null;
}
