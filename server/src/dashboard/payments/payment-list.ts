import { listRoutes, type ListPage } from '../patterns/list-page.ts';
import { paymentsTopic } from '../../payments/context.ts';
import {
  listPaymentRows,
  listPayments,
  payerMinor,
  sumPayments,
  type FoundPayment,
} from '../../payments/find-payment.ts';
import { totalMinor } from '../../payments/intent.ts';
import { readPaidMoney, type PaidMoney } from '../../payments/paid-money.ts';
import { networkName } from '../../networks/known-networks.ts';
import { html, type Html } from '../../kit/html.ts';
import { maskPhoneNumber } from '../../kit/phone-number.ts';
import { cleanText } from '../../pages/page-text.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import { nameAndTime, stateAndAmount } from '../../portal/patterns/list-columns.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { exportColumns } from '../patterns/export-columns.ts';
import { exportedRowsMax } from '../../portal/patterns/list-export.ts';
import { pageOf, shownRows } from '../../portal/patterns/page-of-list.ts';
import type { Visit } from '../visit.ts';
import type { StateMark } from '../../portal/patterns/texts.ts';
import { filterOf, hrefOf, paymentFilters } from './payment-filters.ts';
import { paymentState } from '../../portal/records/payment-state.ts';

/** A payment with what its row shows. */
interface PaymentRow extends FoundPayment {
  id: string;
  state: StateMark;
  network: string | null;
  href: string;
  /** In the file only, and of what was paid. */
  money: PaidMoney | null;
}

export const paymentListPage: ListPage<PaymentRow> = {
  path: '/payments',
  action: 'payments.read',
  title: 'Payments',
  noun: ['payment', 'payments', 'paid'],
  filters: paymentFilters,
  async read(visit, query) {
    const list = await listPayments(visit.money, visit.merchant.id, pageOf(query), filterOf(visit, query));
    const rows = list.rows.map((payment) => rowOf(visit, { payment, query }));
    return shownRows(list, rows);
  },
  live: {
    topic: ({ merchant }) => paymentsTopic(merchant.id),
    changedAt: ({ intent, charge }) =>
      charge && charge.updatedAt > intent.updatedAt ? charge.updatedAt : intent.updatedAt,
    amountMinor: payerMinor,
  },
  exported: {
    needs: 'figures.read',
    columns: exportColumns({
      created_at: ({ intent }) => intent.createdAt.toISOString(),
      payment_id: ({ id }) => id,
      reference: ({ charge }) => charge?.transactionReference ?? null,
      for: ({ intent }) => intent.title ?? intent.description,
      customer: ({ intent }) => intent.customerName,
      network: ({ network }) => network,
      number: ({ charge }) => maskedNumber(charge) || null,
      state: ({ state }) => state.text,
      amount: ({ intent }) => totalMinor(intent),
      // Less `refunded` and `reversed`, `paid` is what is left of it.
      paid: ({ money }) => money?.paidMinor ?? 0n,
      // A part of `paid`: it is in no balance.
      received_directly: ({ money }) => money?.receivedDirectlyMinor ?? 0n,
      fee: ({ money, intent }) => money?.feeMinor ?? intent.feeMinor,
      refunded: ({ money }) => money?.refundedMinor ?? 0n,
      reversed: ({ money }) => money?.reversedMinor ?? 0n,
      currency: ({ intent }) => intent.currency,
      paid_at: ({ charge }) => charge?.paidAt?.toISOString() ?? null,
    }),
    async rows(visit, query, { limit, before }) {
      const page = { limit, offset: 0, before };
      const rows = await listPaymentRows(visit.money, visit.merchant.id, page, filterOf(visit, query));
      const intents = rows.map(({ intent }) => intent);
      const money = await readPaidMoney(visit.money.db, visit.merchant.id, intents);
      return rows.map((payment) => ({
        ...rowOf(visit, { payment, query }),
        money: money.get(payment.intent.id) ?? null,
      }));
    },
    async totals(visit, query) {
      const { total, sumMinor } = await sumPayments(
        visit.money.lists,
        visit.merchant.id,
        filterOf(visit, query),
        exportedRowsMax,
      );
      return total > exportedRowsMax ? { total: exportedRowsMax, isCapped: true } : { total, sumMinor };
    },
  },
  columns: [
    ...nameAndTime<PaymentRow>('For', titleOf, ({ intent }) => intent.createdAt),
    { header: 'From', cell: (row) => html`<span class="unbroken">${payerOf(row)}</span>` },
    { header: 'Reference', cell: ({ charge }) => html`<span class="unbroken">${charge?.transactionReference}</span>` },
    ...stateAndAmount<PaymentRow>('Amount', ({ state }) => state, payerMinor),
  ],
  href: ({ href }) => href,
  first: { href: '/payments/new', text: 'New payment', needs: 'payments.write' },
  empty: { text: 'No payments yet. Make a link, or take one at a counter.' },
};

export const paymentLists: readonly DashboardRoute[] = listRoutes(paymentListPage);

function rowOf({ now }: Visit, { payment, query }: { payment: FoundPayment; query: PageInput['query'] }): PaymentRow {
  return {
    ...payment,
    id: payment.intent.id,
    href: hrefOf(payment, query['term'] ?? ''),
    state: paymentState(payment, { now }),
    network: payment.charge ? networkName(payment.charge.network) : null,
    money: null,
  };
}

function titleOf({ intent }: FoundPayment): Html {
  const title = cleanText(intent.title ?? intent.description ?? intent.customerName ?? '');
  return title === '' ? html`Payment` : html`<bdi>${title}</bdi>`;
}

function payerOf({ charge, network }: PaymentRow): string {
  if (!charge || network === null) return '';
  const number = maskedNumber(charge);
  return number === '' ? network : `${network} ${number}`;
}

function maskedNumber(charge: FoundPayment['charge']): string {
  return charge?.accountNumber ? maskPhoneNumber(charge.accountNumber) : '';
}
