import { listPaymentRows, type FoundPayment } from '../../payments/find-payment.ts';
import type { PaymentSearch } from '../../payments/payment-search.ts';
import { filterOf } from '../payments/payment-filters.ts';
import type { Visit } from '../visit.ts';

// As a counter shows a payment's reference.
const shortCodeForm = /^[2-9A-HJ-NP-Z]{4}$/;

/** Payments as their list finds them, and first those whose receipt shows these characters at the counter. */
export async function findPayments(visit: Visit, term: string, rowsMax: number): Promise<FoundPayment[]> {
  const page = { limit: rowsMax, offset: 0, before: null };
  const filter = filterOf(visit, { term });
  const find = (search: PaymentSearch | undefined) =>
    listPaymentRows(visit.money, visit.merchant.id, page, { ...filter, search });
  const code = term.toUpperCase();
  const found = shortCodeForm.test(code) ? await find({ kind: 'receipt', code, text: term }) : [];
  found.push(...(await find(filter.search)));
  const byId = new Map(found.map((payment) => [payment.intent.id, payment]));
  return [...byId.values()].slice(0, rowsMax);
}
