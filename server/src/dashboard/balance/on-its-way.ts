import { html } from '../../kit/html.ts';
import { maskPhoneNumber } from '../../kit/phone-number.ts';
import { cleanText } from '../../pages/page-text.ts';
import { networkName } from '../../networks/known-networks.ts';
import { pageOf } from '../../portal/patterns/page-of-list.ts';
import { nameAndTime, stateAndAmount } from '../../portal/patterns/list-columns.ts';
import type { StateMark } from '../../portal/patterns/texts.ts';
import { listPending } from '../../transfers/find-transfer.ts';
import { totalMinor, type Transfer, type TransferKind } from '../../transfers/transfer.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { listRoutes, type ListPage } from '../patterns/list-page.ts';
import { transferState } from '../../portal/records/transfer-state.ts';

interface PendingRow extends Transfer {
  state: StateMark;
  networkText: string;
}

const kindTexts: Record<TransferKind, string> = {
  transfer: 'Transfer',
  sub_account_payout: 'Payout of a sub-account',
  refund: 'Refund',
};

/** What is on its way: everything for which money is held, with fees. It adds up to the figure of home and balance. */
const pendingPage: ListPage<PendingRow> = {
  path: '/balance/on-its-way',
  action: 'figures.read',
  title: 'On its way',
  noun: ['entry', 'entries', 'held'],
  filters: [],
  async read({ money, merchant }, query) {
    const list = await listPending(money.lists, merchant.id, pageOf(query));
    const rows = list.rows.map((transfer) => {
      const networkText = networkName(transfer.network);
      return { ...transfer, networkText, state: transferState(transfer, networkText) };
    });
    return { ...list, rows };
  },
  columns: [
    ...nameAndTime<PendingRow>('What', nameOf, ({ createdAt }) => createdAt),
    { header: 'Way', cell: (row) => html`<span class="unbroken">${wayOf(row)}</span>` },
    { header: 'Reference', cell: ({ reference }) => html`<code>${reference}</code>` },
    ...stateAndAmount<PendingRow>('With its fee', ({ state }) => state, totalMinor),
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

function wayOf({ networkText, accountNumber }: PendingRow): string {
  return `${networkText} ${maskPhoneNumber(accountNumber)}`;
}

export const onItsWayPages: readonly DashboardRoute[] = listRoutes(pendingPage);
