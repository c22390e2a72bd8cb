/** Length of a merchant's short id, with which our references and all ids of sessions and payouts begin. */
export const accountLength = 8;

// At least 128 random bits after the account: session ids are part of URLs that payers open.
export const randomIdLength = 22;

const recordIdPattern = new RegExp(`^[0-9A-Za-z]{${accountLength + randomIdLength}}$`);
const accountPattern = new RegExp(`^[0-9A-Za-z]{${accountLength}}$`);

/** The primary key of a session, payout or batch. */
export interface RecordKey {
  account: string;
  id: string;
}

/** How a client finds its record at a network: by its own reference, unique there. */
export interface ReferenceKey {
  account: string;
  network: string;
  reference: string;
}

/** The same by the network's own id of the money that moved, or will. */
export interface TransactionKey {
  account: string;
  network: string;
  transactionId: string;
}

/**
 * The primary key of a session or payout, whose account is the first part of the id; undefined for text that is not an id.
 * Text from URLs is checked here before it reaches the database, which refuses some of it with an error.
 */
export function recordKey(id: string): RecordKey | undefined {
  return recordIdPattern.test(id) ? { account: id.slice(0, accountLength), id } : undefined;
}

export function isAccount(text: string): boolean {
  return accountPattern.test(text);
}
