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
  /** Whom it is shared with, as the merchant named them; null where it is not shared. */
  subAccountId: string | null;
  subAccountGroupId: string | null;
  /** The split, fixed at creation; empty where it is not shared. */
  shares: readonly Share[];
  customerId: string | null;
  customerName: string | null;
  customerEmail: string | null;
  customerPhone: string | null;
  /** The networks the page may offer; null offers all that are on. */
  paymentMethods: string[] | null;
  metadata: JsonRecord;
  /** Where it came from: the API, a link, a counter. */
  source: IntentSource;
  paymentLinkId: string | null;
  terminalId: string | null;
  /** What the payer filled in, by the labels of the link. */
  customFieldsValues: JsonRecord | null;
  attempts: bigint;
  late: boolean;
  review: Review | null;
  eventSequence: bigint;
  createdAt: Date;
  updatedAt: Date;
  expiresAt: Date;
}

export type IntentSource = 'api' | 'link' | 'terminal';

export type IntentStatus = 'requires_payment_method' | 'processing' | 'successful' | 'failed' | 'cancelled' | 'expired';

/** Why money that arrived waits for a person. */
export type Review = 'amount_mismatch' | 'second_success' | 'receipt_reused';

/** Whether a case of this kind is one of money that stands in `suspense`. */
export function isMoneyCase(kind: string): boolean {
  return kind === 'amount_mismatch' || kind === 'second_success';
}

/** Whether two cases are about the same money of a network: what it brought, and what it took back. */
export function isSameMoney(one: NetworkMoney, other: NetworkMoney): boolean {
  const isSameTransaction = one.transactionId === other.transactionId;
  return isSameTransaction && one.amountMinor === other.amountMinor && one.currency === other.currency;
}

/** Money of a network's transaction, as a receipt or a case names it. */
type NetworkMoney = Readonly<{ transactionId: string; amountMinor: bigint; currency: string }>;

/** The payer may try this often; a typo, an empty wallet and a change of mind fit, a guessing game does not. */
export const attemptsMax = 5n;

/**
 * The allowed moves. A success that was verified late is never dropped, whatever had been decided meanwhile; nothing
 * leaves `successful`.
 */
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
 * The status as of now: an open intent whose time has passed is expired, whether or not a job has written that down.
 * An intent under review waits for a person instead (docs/architecture.md, "States").
 */
export function statusAt(intent: Pick<Intent, 'status' | 'expiresAt' | 'review'>, now: Date): IntentStatus {
  const timeIsUp = intent.expiresAt <= now && intent.review === null;
  return isOpen(intent.status) && timeIsUp ? 'expired' : intent.status;
}

/** What the payer is asked for: the amount, and the fee on top when the customer pays it. */
export function totalMinor(intent: Pick<Intent, 'amountMinor' | 'feeMinor' | 'feePayer'>): bigint {
  return intent.feePayer === 'customer' ? intent.amountMinor + intent.feeMinor : intent.amountMinor;
}
