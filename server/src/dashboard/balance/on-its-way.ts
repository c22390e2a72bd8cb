import { html } from '../../kit/html.ts';
import { cleanText } from '../../pages/page-text.ts';
import { pageOf } from '../../portal/patterns/page-of-list.ts';
import { nameAndTime, stateAndAmount } from '../../portal/patterns/list-columns.ts';
import { listPending } from '../../transfers/find-transfer.ts';
import { totalMinor, type Transfer, type TransferKind } from '../../transfers/transfer.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { listRoutes, type ListPage } from '../patterns/list-page.ts';
import { rowOf, wayOf, type TransferRow } from '../transfers/transfer-pages.ts';

const kindTexts: Record<TransferKind, string> = {
  transfer: 'Transfer',
  sub_account_payout: 'Payout of a sub-account',
  refund: 'Refund',
};

/** What is on its way: everything for which money is held, with fees. It adds up to the figure of home and balance. */
const pendingPage: ListPage<TransferRow> = {
  path: '/balance/on-its-way',
  action: 'figures.read',
  title: 'On its way',
  noun: ['entry', 'entries', 'held'],
  filters: [],
  async read({ money, merchant }, query) {
    const list = await listPending(money.lists, merchant.id, pageOf(query));
    return { ...list, rows: list.rows.map(rowOf) };
  },
  columns: [
    ...nameAndTime<TransferRow>('What', nameOf, ({ createdAt }) => createdAt),
    { header: 'Way', cell: wayOf },
    { header: 'Reference', cell: ({ reference }) => html`<code>${reference}</code>` },
    ...stateAndAmount<TransferRow>('With its fee', ({ state }) => state, totalMinor),
  ],
  href: ({ id, kind }) => (kind === 'refund' ? `/refunds/${id}` : `/transfers/${id}`),
  empty: { text: 'Nothing is on its way: what you sent has arrived or come back.' },
  exported: {
    needs: 'figures.read',
    columns: [
      { header: 'time', cell: ({ createdAt }) => createdAt.toISOString() },
      { header: 'environment', cell: (_row, { testMode }) => (testMode ? 'test' : 'live') },
      { header: 'record', cell: ({ kind }) => kindTexts[kind] },
      { header: 'id', cell: ({ id }) => id },
      { header: 'reference', cell: ({ reference }) => reference },
      { header: 'for', cell: ({ beneficiaryName }) => beneficiaryName && cleanText(beneficiaryName) },
      { header: 'network', cell: ({ networkText }) => networkText },
      { header: 'state', cell: ({ state }) => state.text },
      { header: 'amount', cell: ({ amountMinor }) => amountMinor },
      { header: 'fee', cell: ({ feeMinor }) => feeMinor },
    ],
  },
};

function nameOf({ kind, beneficiaryName }: Transfer) {
  const name = cleanText(beneficiaryName ?? '');
  return html`${kindTexts[kind]}${name !== '' && html`: <bdi>${name}</bdi>`}`;
}

export const onItsWayPages: readonly DashboardRoute[] = listRoutes(pendingPage);
