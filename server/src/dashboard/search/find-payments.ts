import { addMs, dayMs } from '../../kit/clock.ts';
import { readAmount } from '../../pages/collect/read-amount.ts';
import { listPayments, listTransactions } from '../../payments/find-payment.ts';
import type { FoundPayment } from '../../payments/find-payment.ts';
import { paymentSearchOf, receiptCodeDays } from '../../payments/payment-search.ts';
import { shortCodeOf } from '../../payments/transaction-reference.ts';
import type { DashboardServices } from '../services.ts';
import type { Visit } from '../visit.ts';

const termLengthMax = 100;
const shortCodeForm = /^[A-Z0-9]{4}$/;

/** Payments as their list finds them, and first those whose receipt shows these four characters at the counter. */
export async function findPayments(
  { money }: DashboardServices,
  { merchant, now, may, membership }: Visit,
  term: string,
  rowsMax: number,
): Promise<FoundPayment[]> {
  const { ownOnly } = may('payments.read');
  const page = { limit: rowsMax, offset: 0, before: null };
  const found: FoundPayment[] = [];
  const shortCode = term.toUpperCase();
  if (shortCodeForm.test(shortCode)) {
    const from = addMs(now, -receiptCodeDays * dayMs);
    const { rows } = await listTransactions(money, merchant.id, page, { term: shortCode, from });
    found.push(...rows.filter(({ charge }) => shortCodeOf(charge.transactionReference) === shortCode));
  }
  const amount = readAmount(term);
  const search = paymentSearchOf(term.slice(0, termLengthMax), 'amountMinor' in amount ? amount.amountMinor : null);
  const filter = { search, now, ...(ownOnly && { terminalIds: membership.terminalIds }) };
  found.push(...(await listPayments(money, merchant.id, page, filter)).rows);
  const isVisible = ({ intent: { terminalId } }: FoundPayment): boolean =>
    !ownOnly || (terminalId !== null && membership.terminalIds.includes(terminalId));
  const byId = new Map(found.filter(isVisible).map((payment) => [payment.intent.id, payment]));
  return [...byId.values()].slice(0, rowsMax);
}
