import type { JsonRecord } from '../events/kinds.ts';

/** A hosted page that can be paid any number of times; each payment is an intent of its own. Amounts are bututs. */
export interface PaymentLink {
  merchantId: string;
  id: string;
  /** The end of the page's address. */
  token: string;
  title: string;
  description: string | null;
  /** Null lets the payer enter the amount, at least `minAmountMinor` where there is one. */
  amountMinor: bigint | null;
  minAmountMinor: bigint | null;
  currency: string;
  metadata: JsonRecord;
  /** Where the payer returns after paying, and after cancelling. */
  redirectUrl: string | null;
  cancelUrl: string | null;
  /** Labels that the payer fills in, in their order. */
  customFields: string[];
  /** Whom its payments are shared with, as they are when somebody pays. */
  subAccountId: string | null;
  subAccountGroupId: string | null;
  active: boolean;
  /** New payments a second from its page, where the operator has set them; 0 is no limit. */
  rateLimit: bigint | null;
  createdAt: Date;
  updatedAt: Date;
  /** Its page still says that it was deleted. */
  deletedAt: Date | null;
}

/** Whether a payer may pay: `deleted` is for ever, `inactive` until the merchant switches it on again. */
export type LinkState = 'active' | 'inactive' | 'deleted';

export function linkState({ active, deletedAt }: Pick<PaymentLink, 'active' | 'deletedAt'>): LinkState {
  if (deletedAt !== null) return 'deleted';
  return active ? 'active' : 'inactive';
}
