import { listRoutes } from '../patterns/list-page.ts';
import { html } from '../../kit/html.ts';
import { maskPhoneNumber } from '../../kit/phone-number.ts';
import { networkName } from '../../networks/known-networks.ts';
import { pageOf, shownRows } from '../../portal/patterns/page-of-list.ts';
import { nameAndTime, stateAndAmount } from '../../portal/patterns/list-columns.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import { createdRange, moreDateFilters } from '../../portal/patterns/time-filter.ts';
import { listRefundRows, listRefunds, sumRefunds, type RefundFilter } from '../../refunds/find-refund.ts';
import { merchantPartMinor, type Refund } from '../../refunds/refund.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { exportColumns } from '../patterns/export-columns.ts';
import { exportedRowsMax } from '../../portal/patterns/list-export.ts';
import { typedSearch } from '../patterns/typed-search.ts';
import { refundState } from '../../portal/records/refund-state.ts';

interface RefundRow extends Refund {
  /** `Wave .... 2345`. */
  to: string;
}

const statuses = [
  { value: 'pending', text: 'On its way' },
  { value: 'completed', text: 'Refunded' },
  { value: 'failed', text: 'Failed (money back)' },
] as const;

export const wayTexts: Record<Refund['route'], string> = {
  network: 'By the network',
  payout: 'Paid out to the payer',
  record: 'Returned by you',
};

export const refundLists: readonly DashboardRoute[] = listRoutes<RefundRow>({
  path: '/refunds',
  action: 'records.read',
  title: 'Refunds',
  noun: ['refund', 'refunds'],
  filters: [
    { kind: 'search', name: 'term', label: 'Name, number, amount or reference' },
    { kind: 'select', name: 'status', label: 'State', options: statuses },
    ...moreDateFilters,
  ],
  async read(visit, query) {
    const { lists } = visit.money;
    const list = await listRefunds(lists, visit.merchant.id, pageOf(query), filterOf(query), { withSum: true });
    const rows = list.rows.map((refund) => rowOf(refund));
    return shownRows(list, rows);
  },
  exported: {
    needs: 'figures.read',
    columns: exportColumns({
      created_at: ({ createdAt }) => createdAt.toISOString(),
      refund_id: ({ id }) => id,
      reference: ({ reference }) => reference,
      payment_id: ({ intentId }) => intentId,
      payment_reference: ({ transactionReference }) => transactionReference,
      to: ({ to }) => to,
      way: ({ route }) => wayTexts[route],
      state: (refund) => refundState(refund).text,
      amount: ({ amountMinor }) => amountMinor,
      your_part: (refund) => merchantPartMinor(refund),
      currency: ({ currency }) => currency,
      arrived_at: ({ completedAt }) => completedAt?.toISOString() ?? null,
    }),
    async rows(visit, query, page) {
      const { lists } = visit.money;
      const rows = await listRefundRows(lists, visit.merchant.id, { ...page, offset: 0 }, filterOf(query));
      return rows.map((refund) => rowOf(refund));
    },
    totals: ({ money, merchant }, query) => sumRefunds(money.lists, merchant.id, filterOf(query), exportedRowsMax),
  },
  columns: [
    ...nameAndTime<RefundRow>(
      'To',
      ({ to }) => to,
      ({ createdAt }) => createdAt,
    ),
    { header: 'Way', cell: ({ route }) => wayTexts[route] },
    {
      header: 'Of payment',
      cell: ({ transactionReference }) => html`<span class="unbroken">${transactionReference}</span>`,
    },
    ...stateAndAmount<RefundRow>('Amount', refundState, ({ amountMinor }) => amountMinor),
  ],
  href: ({ id }) => `/refunds/${id}`,
  empty: {
    text: 'No refunds yet. A refund begins on the page of a paid payment.',
    action: { href: '/payments?status=successful', text: 'Paid payments', needs: 'payments.read' },
  },
});

function filterOf(query: PageInput['query']): RefundFilter {
  return {
    status: statuses.find(({ value }) => value === query['status'])?.value,
    ...typedSearch(query),
    ...createdRange(query),
  };
}

function rowOf(refund: Refund): RefundRow {
  const network = networkName(refund.network);
  // Its state names the network in words too.
  return { ...refund, network, to: `${network} ${maskPhoneNumber(refund.accountNumber)}` };
}
