import { replaceFieldsOfEvents } from '../events/list-events.ts';
import type { Transaction } from '../kit/db.ts';
import { deleteBodiesOfRecords } from '../request-log/retention.ts';
import { listChargeIds } from './queries/charges.ts';
import { clearPayerOfIntents } from './queries/intents.ts';

// Three statements of some tenths of a second; a customer with more payments takes several.
const rowsMax = 1_000;

const erased = { customer_name: null, customer_email: null, customer_phone: null };

/**
 * Removes the payer's name, email address and number from a customer's payments and their events, and what was sent about them from the
 * request log; amounts, shares and the customer's id stay. The caller holds the customer's lock, so that no new payment names it meanwhile.
 */
export async function forgetCustomer(tx: Transaction, customer: { merchantId: string; id: string }): Promise<void> {
  for (let isMore = true; isMore;) {
    const cleared = await clearPayerOfIntents(tx, customer, rowsMax);
    const intentIds = cleared.map(({ id }) => id);
    // Read once their payments are locked: an attempt that was being started is among them.
    const objectIds = [...intentIds, ...(await listChargeIds(tx, customer.merchantId, intentIds))];
    tx.send(deleteBodiesOfRecords(customer.merchantId, [customer.id, ...objectIds]));
    if (objectIds.length > 0) {
      await replaceFieldsOfEvents(tx, customer.merchantId, { objectIds, fields: erased });
    }
    isMore = cleared.length === rowsMax;
  }
}
