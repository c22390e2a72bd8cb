import { resolveCustomer } from '../customers/resolve-customer.ts';
import type { Queryable } from '../kit/db.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { Intent } from './intent.ts';

type Payer = Pick<Intent, 'customerId' | 'customerName' | 'customerEmail' | 'customerPhone'>;

/**
 * Who pays, as the intent keeps it: what the request says, and what it leaves out as the customer has it. Asks nobody
 * where no customer is named. Throws AppError `invalid_request` naming `data.customer`.
 */
export async function payerOf(db: Queryable, merchant: Merchant, request: Payer): Promise<Payer> {
  const { customerId, customerName, customerEmail, customerPhone } = request;
  if (customerId === null) return { customerId, customerName, customerEmail, customerPhone };
  const { id, name, email, phone } = await resolveCustomer(db, merchant.id, { id: customerId, path: 'data.customer' });
  return {
    customerId: id,
    customerName: customerName ?? name,
    customerEmail: customerEmail ?? email,
    customerPhone: customerPhone ?? phone,
  };
}
