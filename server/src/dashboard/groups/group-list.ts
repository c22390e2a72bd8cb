import { twoLines } from '../../portal/patterns/texts.ts';
import type { Static } from 'typebox';
import { listRoutes } from '../patterns/list-page.ts';
import { html } from '../../kit/html.ts';
import { parsePercent, percentToJson } from '../../kit/money.ts';
import { foreignText } from '../../pages/page-text.ts';
import { groupSchema } from '../../sub-accounts/sub-account-wire.ts';
import { moreDateFilters } from '../../portal/patterns/time-filter.ts';
import { readList } from '../patterns/read-list.ts';
import { exportColumns } from '../patterns/export-columns.ts';

type Row = Static<typeof groupSchema>;

export const groupLists = listRoutes<Row>({
  ...{ path: '/groups', action: 'records.read', title: 'Groups', noun: ['group', 'groups'] },
  filters: [{ kind: 'search', name: 'term', label: 'Name' }, ...moreDateFilters],
  read: (visit, query) => readList(visit, 'listSubAccountGroups', groupSchema, query),
  exported: {
    needs: 'figures.read',
    columns: exportColumns({
      group_id: ({ id }) => id,
      name: ({ name }) => name,
      members: ({ members }) => members.map((each) => `${each.sub_account} ${each.percentage}%`).join('; '),
      they_get_percent: (row) => String(sharedPercent(row)),
    }),
  },
  columns: [
    {
      header: 'Name',
      isMain: true,
      cell: (row) => twoLines(foreignText(row.name), membersText(row)),
    },
    { header: 'Members', cell: (row) => html`<span class="unbroken">${membersText(row)}</span>` },
    { header: 'They get', isMain: true, isNumber: true, cell: (row) => `${sharedPercent(row)}%` },
    { header: 'You', isNumber: true, cell: (row) => `${100 - sharedPercent(row)}%` },
  ],
  href: ({ id }) => `/groups/${id}`,
  first: { href: '/groups/new', text: 'New group', needs: 'sub_accounts.write' },
  empty: { text: 'No groups yet. A group splits a payment among several sub-accounts, by percentages of its own.' },
});

function membersText({ members }: Row): string {
  return members.length === 1 ? '1 member' : `${members.length} members`;
}

function sharedPercent({ members }: Row): number {
  const hundredths = members.reduce((sum, { percentage }) => sum + parsePercent(percentage), 0n);
  return percentToJson(hundredths);
}
