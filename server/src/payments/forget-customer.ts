import type { Transaction } from '../kit/db.ts';
import { clearPayerOfIntents } from './queries/intents.ts';

// Some tenths of a second: a customer with very many payments takes several statements, and none of them too long.
const rowsMax = 5_000;

/**
 * Takes the person out of the payments of a customer; amounts, shares and the customer's id stay. The caller keeps new
 * payments of the customer away meanwhile.
 */
export async function forgetCustomer(tx: Transaction, customer: { merchantId: string; id: string }): Promise<void> {
  for (;;) {
    if ((await clearPayerOfIntents(tx, customer, rowsMax)) < rowsMax) return;
  }
}
