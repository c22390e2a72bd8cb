import { listRoutes } from '../patterns/list-page.ts';
import { html, type Html } from '../../kit/html.ts';
import { maskPhoneNumber } from '../../kit/phone-number.ts';
import { cleanText } from '../../pages/page-text.ts';
import { networkName } from '../../networks/known-networks.ts';
import { pageOf, shownRows } from '../../portal/patterns/page-of-list.ts';
import { nameAndTime, stateAndAmount } from '../../portal/patterns/list-columns.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import type { StateMark } from '../../portal/patterns/texts.ts';
import { createdRange, moreDateFilters } from '../../portal/patterns/time-filter.ts';
import { listTransferRows, listTransfers, sumTransfers, type TransferFilter } from '../../transfers/find-transfer.ts';
import type { Transfer, TransferStatus } from '../../transfers/transfer.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { exportColumns } from '../patterns/export-columns.ts';
import { exportedRowsMax } from '../../portal/patterns/list-export.ts';
import { typedSearch } from '../patterns/typed-search.ts';
import { transferState } from '../../portal/records/transfer-state.ts';

interface TransferRow extends Transfer {
  state: StateMark;
  networkText: string;
}

const statuses: readonly { value: TransferStatus; text: string }[] = [
  { value: 'pending', text: 'On its way' },
  { value: 'completed', text: 'Arrived' },
  { value: 'failed', text: 'Failed (money back)' },
  { value: 'cancelled', text: 'Cancelled' },
  { value: 'reversed', text: 'Came back' },
];

const kinds = [
  { value: 'transfer', text: 'Your transfers' },
  { value: 'sub_account_payout', text: 'Sub-account payouts' },
] as const;

export const transferLists: readonly DashboardRoute[] = listRoutes<TransferRow>({
  path: '/transfers',
  action: 'transfers.read',
  title: 'Transfers',
  noun: ['transfer', 'transfers'],
  filters: [
    { kind: 'search', name: 'term', label: 'Name, number, amount or reference' },
    { kind: 'select', name: 'status', label: 'State', options: statuses },
    ...moreDateFilters,
    { kind: 'select', name: 'kind', label: 'Whose', options: kinds, isMore: true },
  ],
  async read(visit, query) {
    const { lists } = visit.money;
    const list = await listTransfers(lists, visit.merchant.id, pageOf(query), filterOf(query), { withSum: true });
    const rows = list.rows.map((transfer) => rowOf(transfer));
    return shownRows(list, rows);
  },
  exported: {
    needs: 'numbers.show',
    columns: exportColumns({
      created_at: ({ createdAt }) => createdAt.toISOString(),
      transfer_id: ({ id }) => id,
      reference: ({ reference }) => reference,
      whose: ({ kind }) => (kind === 'transfer' ? 'yours' : 'sub-account'),
      sub_account_id: ({ subAccountId }) => subAccountId,
      name: ({ beneficiaryName }) => beneficiaryName,
      network: ({ networkText }) => networkText,
      number: ({ accountNumber }) => accountNumber,
      message: ({ narration }) => narration,
      state: ({ state }) => state.text,
      amount: ({ amountMinor }) => amountMinor,
      fee: ({ feeMinor }) => feeMinor,
      currency: ({ currency }) => currency,
      arrived_at: ({ completedAt }) => completedAt?.toISOString() ?? null,
    }),
    async rows(visit, query, page) {
      const { lists } = visit.money;
      const rows = await listTransferRows(lists, visit.merchant.id, { ...page, offset: 0 }, filterOf(query));
      return rows.map((transfer) => rowOf(transfer));
    },
    totals: ({ money, merchant }, query) => sumTransfers(money.lists, merchant.id, filterOf(query), exportedRowsMax),
  },
  columns: [
    ...nameAndTime<TransferRow>('To', nameOf, ({ createdAt }) => createdAt),
    {
      header: 'Way',
      cell: ({ networkText, accountNumber }) =>
        html`<span class="unbroken">${networkText} ${maskPhoneNumber(accountNumber)}</span>`,
    },
    { header: 'Reference', cell: ({ reference }) => html`<code>${reference}</code>` },
    ...stateAndAmount<TransferRow>(
      'Amount',
      ({ state }) => state,
      ({ amountMinor }) => amountMinor,
    ),
  ],
  href: ({ id }) => `/transfers/${id}`,
  first: { href: '/transfers/new', text: 'Pay out', needs: 'transfers.create' },
  empty: { text: 'No transfers yet. Pay out what you have collected to any number.' },
});

function filterOf(query: PageInput['query']): TransferFilter {
  return {
    status: statuses.find(({ value }) => value === query['status'])?.value,
    kind: kinds.find(({ value }) => value === query['kind'])?.value,
    ...typedSearch(query),
    ...createdRange(query),
  };
}

function rowOf(transfer: Transfer): TransferRow {
  const networkText = networkName(transfer.network);
  return { ...transfer, networkText, state: transferState(transfer, networkText) };
}

/** To whom it goes. */
export function nameOf({ beneficiaryName, kind }: Pick<Transfer, 'beneficiaryName' | 'kind'>): Html {
  const name = cleanText(beneficiaryName ?? '');
  if (name !== '') return html`<bdi>${name}</bdi>`;
  return kind === 'sub_account_payout' ? html`Sub-account` : html`Payout`;
}
