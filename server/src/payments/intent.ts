import type { JsonRecord } from '../events/kinds.ts';
import type { FeePayer } from '../merchants/fees.ts';
import type { Share } from '../sub-accounts/shares.ts';

/** A payment intent: what the merchant wants to collect, from creation to its end. Amounts are bututs. */
export interface Intent {
  merchantId: string;
  id: string;
  status: IntentStatus;
  amountMinor: bigint;
  feeMinor: bigint;
  feePayer: FeePayer;
  currency: string;
  intentSecret: string;
  checkoutToken: string;
  returnUrl: string | null;
  cancelUrl: string | null;
  callbackUrl: string | null;
  title: string | null;
  description: string | null;
  /** Who it is shared with, as the merchant named them; null without a split. */
  subAccountId: string | null;
  subAccountGroupId: string | null;
  /** The split, fixed at creation; empty without one. */
  shares: readonly Share[];
  customerId: string | null;
  customerName: string | null;
  customerEmail: string | null;
  customerPhone: string | null;
  /** The networks that the page offers; null offers all that are on. */
  paymentMethods: string[] | null;
  metadata: JsonRecord;
  source: IntentSource;
  paymentLinkId: string | null;
  terminalId: string | null;
  /** The payer's answers, by the labels of the link's fields. */
  customFieldsValues: JsonRecord | null;
  /** The form of a hosted page that created it, so that a second press of its button finds it (`payment-of-form.ts`). */
  formHash: string | null;
  attempts: bigint;
  late: boolean;
  review: Review | null;
  eventSequence: bigint;
  createdAt: Date;
  updatedAt: Date;
  expiresAt: Date;
}

export type IntentSource = 'api' | 'link' | 'terminal';

export const intentStatuses = [
  'requires_payment_method',
  'processing',
  'successful',
  'failed',
  'cancelled',
  'expired',
] as const;
export type IntentStatus = (typeof intentStatuses)[number];

/** Why received money waits for a person's decision. */
export type Review = 'amount_mismatch' | 'second_success' | 'receipt_reused';

/** Whether a case of this kind is about money in `suspense`. */
export function isMoneyCase(kind: string): boolean {
  return kind === 'amount_mismatch' || kind === 'second_success';
}

/** Whether a success and a reversal, or their cases, are about the same money. */
export function isSameMoney(one: NetworkMoney, other: NetworkMoney): boolean {
  const isSameTransaction = one.transactionId === other.transactionId;
  return isSameTransaction && one.amountMinor === other.amountMinor && one.currency === other.currency;
}

/** Money of a provider transaction, as the network reports it or a case stores it. */
type NetworkMoney = Readonly<{ transactionId: string; amountMinor: bigint; currency: string }>;

/** Enough tries for a typo, an empty wallet and a change of mind, too few for guessing. */
export const attemptsMax = 5n;

/** The allowed moves. A late success is never dropped, whatever was decided meanwhile; nothing leaves `successful`. */
const moves: Record<IntentStatus, readonly IntentStatus[]> = {
  requires_payment_method: ['processing', 'successful', 'cancelled', 'expired'],
  processing: ['requires_payment_method', 'successful', 'failed', 'cancelled', 'expired'],
  failed: ['successful'],
  cancelled: ['successful'],
  expired: ['successful'],
  successful: [],
};

export function canIntentBecome(currentStatus: IntentStatus, nextStatus: IntentStatus): boolean {
  return moves[currentStatus].includes(nextStatus);
}

export function isOpen(status: IntentStatus): boolean {
  return status === 'requires_payment_method' || status === 'processing';
}

/**
 * The status at a time: an open intent whose time has passed is expired, whether or not a job has stored that. An intent
 * under review waits for a person instead (docs/architecture.md, "States").
 */
export function statusAt(intent: Pick<Intent, 'status' | 'expiresAt' | 'review'>, now: Date): IntentStatus {
  const timeIsUp = intent.expiresAt <= now && intent.review === null;
  return isOpen(intent.status) && timeIsUp ? 'expired' : intent.status;
}

/** An amount and its fee. */
export type PaymentAmount = Pick<Intent, 'amountMinor' | 'feeMinor' | 'feePayer'>;

/** What the payer pays, in bututs: the amount, plus the fee when the customer pays it. */
export function totalMinor(intent: PaymentAmount): bigint {
  return intent.feePayer === 'customer' ? intent.amountMinor + intent.feeMinor : intent.amountMinor;
}
