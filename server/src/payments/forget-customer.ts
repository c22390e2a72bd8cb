import type { Transaction } from '../kit/db.ts';
import { clearPayerOfIntents } from './queries/intents.ts';

// A statement takes some tenths of a second; a customer with more payments takes several.
const rowsMax = 5_000;

/**
 * Removes the payer's name, email address and number from a customer's payments; amounts, shares and the customer's id stay.
 * The caller holds the customer's lock, so that no new payment names it meanwhile.
 */
export async function forgetCustomer(tx: Transaction, customer: { merchantId: string; id: string }): Promise<void> {
  for (;;) {
    if ((await clearPayerOfIntents(tx, customer, rowsMax)) < rowsMax) return;
  }
}
