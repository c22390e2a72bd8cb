import { customerToWire } from '../../customers/customer-wire.ts';
import type { Customer } from '../../customers/customer.ts';
import { listEventsOfObjects } from '../../events/list-events.ts';
import type { Merchant } from '../../merchants/merchant.ts';
import { chargeToWire } from '../../payments/charge-wire.ts';
import type { PaymentContext } from '../../payments/context.ts';
import { listAttempts, listPaymentRows } from '../../payments/find-payment.ts';
import { listedIntentToWire } from '../../payments/intent-wire.ts';
import type { Intent } from '../../payments/intent.ts';
import { paymentTimeline } from '../../payments/timeline.ts';
import { listRefundsOfCharge } from '../../refunds/find-refund.ts';
import { refundToWire } from '../../refunds/routes.ts';

// A page of it in memory at a time.
const paymentsPerRead = 100;

/**
 * All that is stored about a customer, as JSON: the record, the events about it, and each payment with its attempts, in which the
 * numbers that paid stand in full, its refunds and its timeline; the newest first. Made payment by payment, so that it takes no memory
 * however much there is.
 */
export async function* customerData(
  context: PaymentContext,
  merchant: Merchant,
  customer: Customer,
): AsyncGenerator<string> {
  const { db, clock } = context;
  const events = await listEventsOfObjects(db, merchant.id, [customer.id]);
  const head = {
    exported_at: clock.now().toISOString(),
    customer: customerToWire({ merchantId: merchant.id, testMode: merchant.testMode }, customer),
    events: events.map(({ id, kind, record, createdAt }) => ({ id, kind, createdAt: createdAt.toISOString(), record })),
  };
  yield `${JSON.stringify(head).slice(0, -1)},"payments":[`;
  let [before, separator]: [string | null, string] = [null, '\n'];
  for (;;) {
    const page = { limit: paymentsPerRead, offset: 0, before };
    const rows = await listPaymentRows(context, merchant.id, page, { customerId: customer.id, now: clock.now() });
    for (const { intent } of rows) {
      yield separator + JSON.stringify(await paymentData(context, merchant, intent));
      separator = ',\n';
    }
    before = rows.at(-1)?.intent.id ?? null;
    if (before === null || rows.length < paymentsPerRead) break;
  }
  yield '\n]}\n';
}

async function paymentData(context: PaymentContext, merchant: Merchant, intent: Intent): Promise<object> {
  const charges = await listAttempts(context.db, merchant.id, intent.id);
  const refunds = await Promise.all(charges.map(({ id }) => listRefundsOfCharge(context.db, merchant.id, id)));
  return {
    ...listedIntentToWire(context, merchant, intent),
    attempts: charges.map((charge) => ({
      ...chargeToWire(context, merchant, intent, charge),
      account_number: charge.accountNumber,
    })),
    refunds: refunds.flat().map((refund) => refundToWire(merchant, refund)),
    timeline: await paymentTimeline(context, intent),
  };
}
