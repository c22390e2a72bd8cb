import type { Static } from 'typebox';
import { html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { foreignText } from '../../pages/page-text.ts';
import { subAccountSchema } from '../../sub-accounts/sub-account-wire.ts';
import { rowsPerPage } from '../../portal/patterns/list-page.ts';
import { listRoute } from '../patterns/list-page.ts';
import { minorOf, stateMark } from '../../portal/patterns/texts.ts';
import { listCall } from '../patterns/list-call.ts';
import { canPayOut, destinationText, subAccountState } from './read-sub-account.ts';

type Row = Static<typeof subAccountSchema> & { destination: string; isPayable: boolean };

export const subAccountList = listRoute<Row>({
  path: '/sub-accounts',
  section: 'sub-accounts',
  action: 'records.read',
  title: 'Sub-accounts',
  noun: ['sub-account', 'sub-accounts'],
  filters: [{ kind: 'search', name: 'term', label: 'Name, number or network' }],
  async read({ api, money: { networks } }, visit, query) {
    const { merchant, testMode } = visit;
    const call = listCall(visit, query, { limit: rowsPerPage });
    const { data, meta } = await api.list('listSubAccounts', subAccountSchema, call);
    return {
      rows: data.map((row) => ({
        ...row,
        destination: destinationText(networks, testMode, { network: row.settlement_code, number: row.account_number }),
        isPayable: canPayOut(networks, merchant, row.settlement_code),
      })),
      total: meta.total,
      isCapped: meta.total_is_capped === true,
      nextCursor: meta.next_cursor,
    };
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
  empty: {
    text: 'No sub-accounts yet. A sub-account gets a part of your payments: a partner, a teacher, a stall.',
    action: { href: '/sub-accounts/new', text: 'New sub-account', needs: 'sub_accounts.write' },
  },
  buttons: [{ href: '/sub-accounts/new', text: 'New sub-account', needs: 'sub_accounts.write' }],
});
