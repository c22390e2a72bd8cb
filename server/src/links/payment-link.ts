import type { JsonRecord } from '../events/kinds.ts';

/** A hosted page that can be paid any number of times, each time by its own intent. Amounts are in bututs. */
export interface PaymentLink {
  merchantId: string;
  id: string;
  /** The last part of the page's URL. */
  token: string;
  title: string;
  description: string | null;
  /** Null lets the payer enter the amount, at least `minAmountMinor` if that is set. */
  amountMinor: bigint | null;
  minAmountMinor: bigint | null;
  currency: string;
  metadata: JsonRecord;
  /** Where the payer returns after paying, and after cancelling. */
  redirectUrl: string | null;
  cancelUrl: string | null;
  /** Labels of the fields that the payer can fill in, in order. */
  customFields: string[];
  /** The split of its payments, resolved when a payment is created. */
  subAccountId: string | null;
  subAccountGroupId: string | null;
  active: boolean;
  /** New payments a second from its page; null applies the merchant's limit, 0 is no limit. */
  rateLimit: bigint | null;
  createdAt: Date;
  updatedAt: Date;
  /** The page of a deleted link says so. */
  deletedAt: Date | null;
}

/** Whether the link accepts payments. `deleted` is final; the merchant can reactivate an `inactive` link. */
export type LinkState = 'active' | 'inactive' | 'deleted';

export function linkState({ active, deletedAt }: Pick<PaymentLink, 'active' | 'deletedAt'>): LinkState {
  if (deletedAt !== null) return 'deleted';
  return active ? 'active' : 'inactive';
}
