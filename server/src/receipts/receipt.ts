/** What a network's message, or a line of its statement, says of money that a merchant has received. Amounts are bututs. */
export interface Receipt {
  merchantId: string;
  id: string;
  railAccount: string;
  network: string;
  /** As the network writes it. */
  transactionId: string;
  /** The same as people may type it: `transactionKeyOf`. */
  transactionKey: string;
  amountMinor: bigint;
  currency: string;
  payerNumber: string | null;
  payerName: string | null;
  /** The wallet's balance after it; null where the message has none. */
  balanceMinor: bigint | null;
  status: ReceiptStatus;
  /** When the network sent it, by the phone's clock or the statement. */
  datedAt: Date;
  /** The charge that it has paid; null for none. */
  chargeId: string | null;
  createdAt: Date;
  updatedAt: Date;
}

/**
 * A message can be forged by whoever controls the phone, so it is `unconfirmed` until a line of the statement says the same.
 * A statement that says something else makes it `contradicted`, for good.
 */
export type ReceiptStatus = 'unconfirmed' | 'confirmed' | 'contradicted';

/** When the phone of an account was last seen. */
export interface ReceiptPhone {
  merchantId: string;
  railAccount: string;
  /** By any request that its key has signed. */
  seenAt: Date;
  /** By a sign of life, which an application sends at an interval; null where it sends none. */
  pingedAt: Date | null;
  /** By a message of the network; null before the first. */
  messageAt: Date | null;
}

const idForm = /^[0-9A-Za-z][0-9A-Za-z._-]{3,62}[0-9A-Za-z]$/;

/**
 * The id without regard to case, spaces and invisible marks, as people type and copy it; null for a text that cannot be one, such as
 * one with a letter that becomes ASCII in capitals only.
 */
export function transactionKeyOf(text: string): string | null {
  const id = text.replaceAll(/[\s\p{Cf}]/gu, '');
  return idForm.test(id) ? id.toUpperCase() : null;
}
