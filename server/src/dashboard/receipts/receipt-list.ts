import { html } from '../../kit/html.ts';
import { maskPhoneNumber } from '../../kit/phone-number.ts';
import { listReceiptsToMatch, whyUnmatched } from '../../payments/unmatched-receipts.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import { stateAndAmount } from '../../portal/patterns/list-columns.ts';
import { pageOf, shownRows } from '../../portal/patterns/page-of-list.ts';
import { shownTime, twoLines } from '../../portal/patterns/texts.ts';
import { createdRange, moreDateFilters } from '../../portal/patterns/time-filter.ts';
import type { Receipt, ReceiptStatus } from '../../receipts/receipt.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { exportColumns } from '../patterns/export-columns.ts';
import { listRoutes } from '../patterns/list-page.ts';
import { typedSearch } from '../patterns/typed-search.ts';
import { payerText, receiptMark } from './receipt-texts.ts';

interface ReceiptRow extends Receipt {
  /** Why it has paid nothing. */
  reason: string;
}

const statuses: readonly { value: ReceiptStatus; text: string }[] = [
  { value: 'unconfirmed', text: 'Unconfirmed' },
  { value: 'confirmed', text: 'Confirmed by the statement' },
];

/** The address of the list of those on which somebody may have to decide. */
export const mayBelongPath = '/receipts?show=payments';

/** Receipts that have paid nothing. */
export const receiptLists: readonly DashboardRoute[] = listRoutes<ReceiptRow>({
  path: '/receipts',
  action: 'records.read',
  title: 'Receipts without a payment',
  noun: ['receipt', 'receipts', 'received'],
  filters: [
    { kind: 'search', name: 'term', label: 'Transaction id, number, name or amount' },
    {
      ...{ kind: 'select', name: 'show', label: 'Show' },
      options: [{ value: 'payments', text: 'May belong to a payment' }],
    },
    { kind: 'select', name: 'status', label: 'State', options: statuses, isMore: true },
    ...moreDateFilters,
  ],
  async read({ money, merchant, now }, query) {
    const filter = { ...filterOf(query), now };
    const list = await listReceiptsToMatch(money.lists, merchant.id, pageOf(query), filter);
    const reasons = await whyUnmatched(money.db, merchant.id, list.rows);
    return shownRows(
      list,
      list.rows.map((receipt) => ({ ...receipt, reason: reasons.get(receipt.id)?.reason ?? '' })),
    );
  },
  exported: {
    needs: 'figures.read',
    columns: exportColumns({
      dated_at: ({ datedAt }) => datedAt.toISOString(),
      network: ({ network }) => network,
      transaction_id: ({ transactionId }) => transactionId,
      payer_number: ({ payerNumber }) => (payerNumber === null ? null : maskPhoneNumber(payerNumber)),
      payer_name: ({ payerName }) => payerName,
      state: ({ status }) => status,
      amount: ({ amountMinor }) => amountMinor,
      currency: ({ currency }) => currency,
      why: ({ reason }) => reason,
      receipt_id: ({ id }) => id,
    }),
  },
  columns: [
    {
      header: 'From',
      isMain: true,
      cell: (receipt, { now }) =>
        twoLines(payerText(receipt), html`${shownTime(receipt.datedAt, now)}<br>${receipt.reason}`),
    },
    { header: 'Time', cell: ({ datedAt }, { now }) => shownTime(datedAt, now) },
    { header: 'Transaction id', cell: ({ transactionId }) => html`<span class="unbroken">${transactionId}</span>` },
    { header: 'Why', cell: ({ reason }) => reason },
    ...stateAndAmount<ReceiptRow>('Amount', receiptMark, ({ amountMinor }) => amountMinor),
  ],
  href: ({ id }) => `/receipts/${id}`,
  empty: {
    text: 'Every receipt has its payment. One that your phone forwards, and that fits no payment, waits here until you decide.',
    action: { href: '/payments', text: 'Payments', needs: 'payments.read' },
  },
});

function filterOf(query: PageInput['query']) {
  return {
    status: statuses.find(({ value }) => value === query['status'])?.value,
    mayBelong: query['show'] === 'payments',
    ...typedSearch(query),
    ...createdRange(query),
  };
}
