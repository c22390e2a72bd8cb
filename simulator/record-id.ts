/** Characters of a merchant's short id, which lead our references and every id of a session or a payout. */
export const accountLength = 8;

// 128 bits and a little more behind the account: session ids stand in addresses that payers open.
export const randomIdLength = 22;

const recordIdPattern = new RegExp(`^[0-9A-Za-z]{${accountLength + randomIdLength}}$`);
const accountPattern = new RegExp(`^[0-9A-Za-z]{${accountLength}}$`);

/**
 * The whole key of the row of a session or a payout, of which the id carries the first part; undefined for what cannot
 * be an id. Texts from addresses come here before they reach the database, which refuses some of them with an error.
 */
export function recordKey(id: string): { account: string; id: string } | undefined {
  return recordIdPattern.test(id) ? { account: id.slice(0, accountLength), id } : undefined;
}

export function isAccount(text: string): boolean {
  return accountPattern.test(text);
}
