import { listRoutes } from '../patterns/list-page.ts';
import { formatAmount } from '../../kit/money.ts';
import { foreignText } from '../../pages/page-text.ts';
import { listLinks } from '../../links/manage-links.ts';
import type { PaymentLink } from '../../links/payment-link.ts';
import { pageOf, shownRows } from '../../portal/patterns/page-of-list.ts';
import { listTakingsOfLinks } from '../../transactions/terminal-summary.ts';
import { createdRange, moreDateFilters } from '../../portal/patterns/time-filter.ts';
import { typedSearch } from '../patterns/typed-search.ts';
import { exportColumns } from '../patterns/export-columns.ts';
import { stateMark, twoLines, type StateMark } from '../../portal/patterns/texts.ts';

type Row = PaymentLink & { times: number; collectedMinor: bigint };

const states = [
  { value: 'active', text: 'On', isActive: true },
  { value: 'inactive', text: 'Off', isActive: false },
];

export const linkLists = listRoutes<Row>({
  ...{ path: '/links', action: 'records.read', title: 'Payment links' },
  noun: ['link', 'links'],
  filters: [
    { kind: 'search', name: 'term', label: 'Title, description or amount' },
    { kind: 'select', name: 'status', label: 'State', options: states },
    ...moreDateFilters,
  ],
  async read(visit, query) {
    const active = states.find(({ value }) => value === query['status'])?.isActive;
    const filter = { active, ...createdRange(query), ...typedSearch(query) };
    const list = await listLinks(visit.money.lists, visit.merchant.id, pageOf(query), filter);
    const ids = list.rows.map(({ id }) => id);
    const takings = ids.length === 0 ? [] : await listTakingsOfLinks(visit.money.db, visit.merchant.id, ids);
    const byId = new Map(takings.map((each) => [each.id, each]));
    const rows = list.rows.map((row) => {
      const { count = 0n, paidMinor = 0n, refundedMinor = 0n } = byId.get(row.id) ?? {};
      return { ...row, times: Number(count), collectedMinor: paidMinor - refundedMinor };
    });
    return shownRows(list, rows);
  },
  exported: {
    needs: 'figures.read',
    columns: exportColumns({
      link_id: ({ id }) => id,
      title: ({ title }) => title,
      amount: ({ amountMinor }) => amountMinor,
      smallest_amount: ({ minAmountMinor }) => minAmountMinor,
      currency: ({ currency }) => currency,
      state: ({ active }) => linkMark(active).text,
      payments: ({ times }) => String(times),
      collected: ({ collectedMinor }) => collectedMinor,
      created_at: ({ createdAt }) => createdAt.toISOString(),
    }),
  },
  columns: [
    {
      header: 'Title',
      isMain: true,
      cell: (row) => twoLines(foreignText(row.title), amountOf(row)),
    },
    { header: 'Amount', isNumber: true, cell: amountOf },
    { header: 'Times', isNumber: true, cell: ({ times }) => times.toLocaleString('en-GB') },
    {
      header: 'Collected',
      isMain: true,
      isNumber: true,
      cell: (row) => twoLines(formatAmount(row.collectedMinor), stateMark(linkMark(row.active))),
    },
    { header: 'State', cell: (row) => stateMark(linkMark(row.active)) },
  ],
  href: ({ id }) => `/links/${id}`,
  first: { href: '/links/new', text: 'New payment link', needs: 'links.write' },
  empty: {
    text: 'No payment links yet. A link is a page that anybody can pay: send it by chat, or print its QR code.',
  },
});

export function linkMark(isActive: boolean): StateMark {
  return isActive ? { tone: 'good', icon: 'check', text: 'On' } : { tone: 'calm', icon: 'cross', text: 'Off' };
}

function amountOf({ amountMinor, minAmountMinor }: Row): string {
  if (amountMinor !== null) return formatAmount(amountMinor);
  return minAmountMinor === null ? 'Payer chooses' : `From ${formatAmount(minAmountMinor)}`;
}
