import type { Operator } from '../kit/phone-number.ts';
import type { MerchantAppearance } from '../merchants/appearance.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { NextAction } from '../networks/contract.ts';
import type { ChargeFailureCode, ChargeProgress, ChargeStatus } from './charge.ts';
import type { IntentStatus } from './intent.ts';

/** A payment as the hosted page shows it: nothing that a payer must not know. */
export interface CheckoutView {
  merchantId: string;
  intentId: string;
  merchantName: string;
  appearance: MerchantAppearance & Pick<Merchant, 'logoSetAt'>;
  testMode: boolean;
  status: IntentStatus;
  /** The counter's name, for a payment at one. */
  counterName: string | null;
  title: string | null;
  description: string | null;
  /** What the payer answered on a link's page, by its labels. */
  customFields: readonly { label: string; value: string }[];
  currency: string;
  amountMinor: bigint;
  /** The fee that the payer pays on top; 0 when the business pays it. */
  feeMinor: bigint;
  totalMinor: bigint;
  expiresAt: Date;
  /**
   * Where "back to the shop" leads: with `payment_intent_id` and `status` added if it can be linked, else as the merchant
   * sent it.
   */
  returnUrl: string | null;
  /** The same for a payer who cancelled. */
  cancelUrl: string | null;
  attemptsLeft: number;
  /** The payer's number as the merchant sent it, to start with. */
  customerPhone: string | null;
  networks: CheckoutNetwork[];
  /** The attempt that paid; else one under review; else the open one that the payer has not left; else the newest. */
  charge: CheckoutCharge | null;
  /** Whether the payer may leave `charge`, which is open, to use another number or network. */
  canChange: boolean;
  /** Attempts that the payer has left and may still approve. If another one pays too, the payer has paid twice. */
  openPrompts: OpenPrompt[];
}

export interface CheckoutNetwork {
  id: string;
  displayName: string;
  numberRequired: boolean;
  /** The mobile operator whose subscribers likely have this wallet. */
  operator: Operator | null;
}

/** An abandoned attempt whose outcome is open; its fields are those of a `CheckoutCharge`. */
export interface OpenPrompt {
  id: string;
  networkName: string;
  maskedNumber: string;
  number: string | null;
  receivedDirectly: boolean;
  transactionReference: string;
}

/** What became of the transaction id that the payer types after sending the money. */
export interface TypedId {
  /** The id that is being looked for; null while none has been accepted. */
  value: string | null;
  /** `check`: the id was typed for another payment too, and a person looks at it. */
  waitsFor: 'message' | 'statement' | 'check' | null;
  /** Zero closes the form. */
  triesLeft: number;
}

export interface CheckoutCharge {
  id: string;
  /** Counted from 1. */
  attempt: number;
  /** Whether the payer left it to use another number or network. */
  isAbandoned: boolean;
  networkId: string;
  networkName: string;
  /** `.... 4725`, empty while unknown. */
  maskedNumber: string;
  /** The whole number as typed; the page decides who may see it. Null for none. */
  number: string | null;
  /** Whether the payer sends the money to the business's own number, where no network can say whether it was sent. */
  receivedDirectly: boolean;
  /** When the attempt started. */
  waitingSince: Date;
  /** The whole number, of test payments only: it leads to the simulated phone. */
  simulatedNumber: string | null;
  status: ChargeStatus;
  /** `unknown` without a clear response of the network: shown as waiting, never as failed. */
  progress: ChargeProgress;
  nextAction: NextAction | null;
  typedId?: TypedId;
  /** Why it failed; the page has a sentence for each. */
  failureCode: ChargeFailureCode | null;
  /** Whether a person has to decide on it, for example because of another amount than requested. */
  underReview: boolean;
  transactionReference: string;
  /** What staff compare with their chat message. */
  shortCode: string;
  /** The amount received; before that, the amount requested. */
  amountPaidMinor: bigint;
  amountRefundedMinor: bigint;
  /** What the network took back in part; nothing is left of an attempt that is `reversed`. */
  amountReversedMinor: bigint;
  /** What is under review; null for nothing, or for another currency. */
  arrivedMinor: bigint | null;
  paidAt: Date | null;
}
