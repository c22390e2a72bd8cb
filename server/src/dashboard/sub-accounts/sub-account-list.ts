import type { Static } from 'typebox';
import { listRoutes } from '../patterns/list-page.ts';
import { html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { foreignText } from '../../pages/page-text.ts';
import { subAccountSchema } from '../../sub-accounts/sub-account-wire.ts';
import { exportColumns } from '../patterns/export-columns.ts';
import { minorOf, stateMark } from '../../portal/patterns/texts.ts';
import { moreDateFilters } from '../../portal/patterns/time-filter.ts';
import { readList } from '../patterns/read-list.ts';
import { canPayOut, destinationText, subAccountState } from './read-sub-account.ts';

type Row = Static<typeof subAccountSchema> & { destination: string; isPayable: boolean };

export const subAccountLists = listRoutes<Row>({
  path: '/sub-accounts',
  action: 'records.read',
  title: 'Sub-accounts',
  noun: ['sub-account', 'sub-accounts'],
  filters: [{ kind: 'search', name: 'term', label: 'Name, number or network' }, ...moreDateFilters],
  async read(visit, query) {
    const { money, merchant } = visit;
    const list = await readList(visit, 'listSubAccounts', subAccountSchema, query);
    const rows = list.rows.map((row) => ({
      ...row,
      destination: destinationText({ network: row.settlement_code, number: row.account_number }),
      isPayable: canPayOut(money.networks, merchant, row.settlement_code),
    }));
    return { ...list, rows };
  },
  exported: {
    needs: 'numbers.show',
    columns: exportColumns({
      sub_account_id: ({ id }) => id,
      name: ({ name }) => name,
      percentage: ({ percentage }) => String(percentage),
      network: ({ settlement_code: network }) => network,
      number: ({ account_number: number }) => number,
      state: (row) => subAccountState(row).text,
      balance: ({ balance }) => minorOf(balance),
      owes_you: ({ owed_balance: owed = 0 }) => minorOf(owed),
      currency: ({ currency }) => currency,
      created_at: ({ createdAt }) => createdAt,
    }),
  },
  columns: [
    {
      header: 'Name',
      isMain: true,
      cell: ({ name, percentage }) => html`<span class="first">${foreignText(name)}</span>
<span class="second phone">${percentage}% of each payment</span>`,
    },
    { header: 'Share', isNumber: true, cell: ({ percentage }) => `${percentage}%` },
    { header: 'Paid out to', cell: ({ destination }) => destination },
    { header: 'State', cell: (row) => stateMark(subAccountState(row)) },
    {
      header: 'Balance',
      isMain: true,
      isNumber: true,
      cell: (row) => html`<span class="first">${formatAmount(minorOf(row.balance))}</span>
${row.owed_balance !== undefined && html`<span class="second">owes you ${formatAmount(minorOf(row.owed_balance))}</span>`}
<span class="second phone">${stateMark(subAccountState(row))}</span>`,
    },
  ],
  href: ({ id }) => `/sub-accounts/${id}`,
  first: { href: '/sub-accounts/new', text: 'New sub-account', needs: 'sub_accounts.write' },
  empty: { text: 'No sub-accounts yet. A sub-account gets a part of your payments: a partner, a teacher, a stall.' },
});
