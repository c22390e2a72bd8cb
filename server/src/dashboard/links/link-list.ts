import type { Static } from 'typebox';
import { html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { foreignText } from '../../pages/page-text.ts';
import { linkSchema } from '../../links/wire-schemas.ts';
import { listTakingsOfLinks } from '../../transactions/terminal-summary.ts';
import { listCall } from '../patterns/list-call.ts';
import { rowsPerPage } from '../../portal/patterns/list-page.ts';
import { listRoute } from '../patterns/list-page.ts';
import { minorOf, stateMark } from '../../portal/patterns/texts.ts';
import type { StateMark } from '../../portal/patterns/texts.ts';

type Row = Static<typeof linkSchema> & { times: number; collectedMinor: bigint };

export const linkList = listRoute<Row>({
  ...{ path: '/links', section: 'links', action: 'records.read', title: 'Payment links' },
  noun: ['link', 'links'],
  filters: [
    { kind: 'search', name: 'term', label: 'Title or description' },
    {
      ...{ kind: 'select', name: 'status', label: 'State' },
      options: [
        { value: 'active', text: 'On' },
        { value: 'inactive', text: 'Off' },
      ],
    },
  ],
  async read({ api, money }, visit, query) {
    const status = ['active', 'inactive'].find((each) => each === query['status']);
    const call = listCall(visit, query, { limit: rowsPerPage, status });
    const { data, meta } = await api.list('listPaymentLinks', linkSchema, call);
    const ids = data.map(({ id }) => id);
    const takings = ids.length === 0 ? [] : await listTakingsOfLinks(money.db, visit.merchant.id, ids);
    const byId = new Map(takings.map((each) => [each.id, each]));
    return {
      rows: data.map((row) => {
        const { count = 0n, paidMinor = 0n, refundedMinor = 0n } = byId.get(row.id) ?? {};
        return { ...row, times: Number(count), collectedMinor: paidMinor - refundedMinor };
      }),
      total: meta.total,
      isCapped: meta.total_is_capped === true,
      nextCursor: meta.next_cursor,
    };
  },
  columns: [
    {
      header: 'Title',
      isMain: true,
      cell: (row) => html`<span class="first">${foreignText(row.title)}</span>
<span class="second phone">${amountOf(row)}</span>`,
    },
    { header: 'Amount', isNumber: true, cell: amountOf },
    { header: 'Times', isNumber: true, cell: ({ times }) => times.toLocaleString('en-GB') },
    {
      header: 'Collected',
      isMain: true,
      isNumber: true,
      cell: (row) => html`<span class="first">${formatAmount(row.collectedMinor)}</span>
<span class="second phone">${stateMark(linkMark(row.status === 'active'))}</span>`,
    },
    { header: 'State', cell: (row) => stateMark(linkMark(row.status === 'active')) },
  ],
  href: ({ id }) => `/links/${id}`,
  empty: {
    text: 'No payment links yet. A link is a page that anybody can pay: send it by chat, or print its QR code.',
    action: { href: '/links/new', text: 'New payment link', needs: 'links.write' },
  },
  buttons: [{ href: '/links/new', text: 'New payment link', needs: 'links.write' }],
});

export function linkMark(isActive: boolean): StateMark {
  return isActive ? { tone: 'good', icon: 'check', text: 'On' } : { tone: 'calm', icon: 'cross', text: 'Off' };
}

function amountOf({ amount, min_amount: minimum }: Row): string {
  if (amount !== null) return formatAmount(minorOf(amount));
  return minimum === null ? 'Payer chooses' : `From ${formatAmount(minorOf(minimum))}`;
}
