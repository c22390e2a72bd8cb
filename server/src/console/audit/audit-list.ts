import { operatorActions, ownActionText } from '../../audit/action-words.ts';
import { installationId, type AuditEntry } from '../../audit/audit-entry.ts';
import { changeText } from '../../audit/change-words.ts';
import { listAuditEntries, listOperatorEntries } from '../../audit/record-audit.ts';
import type { List } from '../../api/list-reader.ts';
import type { PageRequest } from '../../api/pagination.ts';
import { html } from '../../kit/html.ts';
import { isUuid } from '../../kit/ids.ts';
import { foreignText } from '../../pages/page-text.ts';
import type { ListPage } from '../../portal/patterns/list-page.ts';
import { pageOf, shownRows } from '../../portal/patterns/page-of-list.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import { shownTime } from '../../portal/patterns/texts.ts';
import { createdRange, dateFilters } from '../../portal/patterns/time-filter.ts';
import { auditColumns, environmentText } from '../../portal/records/audit-columns.ts';
import { listRoutes, type ConsoleKind } from '../console-route.ts';
import type { ConsoleServices } from '../services.ts';

/** What operators did; or all that people did in one business, whose id is in the address. */
const auditList: ListPage<AuditEntry, ConsoleKind> = {
  path: '/audit',
  action: 'records.read',
  title: 'Audit log',
  noun: ['entry', 'entries'],
  filters: [
    { kind: 'search', name: 'term', label: 'Who, what, or an id' },
    {
      kind: 'select',
      name: 'action',
      label: 'Action',
      options: operatorActions.map(({ action, text }) => ({ value: action, text })),
    },
    ...dateFilters,
    { kind: 'given', name: 'business', label: 'Of one business, with what its own people did' },
  ],
  async read(visit, query) {
    const list = await entriesOf(visit, query, pageOf(query));
    return shownRows(list, list.rows);
  },
  columns: [
    {
      header: 'What',
      isMain: true,
      cell: (
        { action, result, createdAt, changes },
        { now },
      ) => html`<span class="first">${ownActionText(action)}${result === 'refused' && ', refused'}</span>
<span class="second phone">${shownTime(createdAt, now)}</span><span class="second changes">${foreignText(changes.map(changeText).join('; '))}</span>`,
    },
    { header: 'Time', cell: ({ createdAt }, { now }) => shownTime(createdAt, now) },
    {
      header: 'Who',
      isMain: true,
      cell: ({ actorName, actorType }) =>
        html`<bdi>${actorName}</bdi>${actorType === 'member' && html`<span class="second">of the business</span>`}`,
    },
    { header: 'Environment', cell: environmentText },
    { header: 'From', cell: ({ address }) => address ?? '' },
  ],
  href: hrefOf,
  empty: { text: 'Nothing has been done yet.' },
  exported: {
    needs: 'audit.export',
    columns: auditColumns([
      { header: 'business_id', cell: ({ businessId }) => businessId },
      { header: 'person', cell: ({ actorName }) => actorName },
      { header: 'of', cell: ({ actorType }) => actorType },
      { header: 'action', cell: ({ action }) => action },
    ]),
    rows: async (visit, query, { limit, before }) => (await entriesOf(visit, query, { limit, offset: 0, before })).rows,
  },
};

function entriesOf(
  { money }: ConsoleServices,
  query: PageInput['query'],
  page: PageRequest,
): Promise<List<AuditEntry>> {
  const { business = '', term = '', action = '' } = query;
  const filter = {
    ...(term !== '' && { term }),
    ...(action !== '' && { action }),
    ...createdRange(query),
  };
  return isUuid(business)
    ? listAuditEntries(money.lists, business, page, filter)
    : listOperatorEntries(money.lists, page, filter);
}

/** The page of what an entry is about, or the business's; of the installation itself there is none. */
function hrefOf({ objectType, objectId, businessId, testMode }: AuditEntry): string {
  const environment = testMode === false ? 'live' : 'test';
  if (objectType === 'case' && objectId !== null) return `/${environment}/cases/${objectId}`;
  if (objectType === 'operator' && objectId !== null) return `/operators/${objectId}`;
  if (objectType === 'verification') return '/live/ledger';
  if (objectType === 'defaults') return '/defaults';
  if (objectType === 'rail_account' || objectType === 'rail-accounts') return `/rail-accounts/${objectId ?? ''}`;
  if (objectType === 'network_account' || objectType === 'statement') return `/${environment}/reconciliation`;
  if (objectType === 'businesses' && isUuid(objectId ?? '')) return `/businesses/${objectId}`;
  const isRecord = objectType === 'payment' || objectType === 'transfer' || objectType === 'refund';
  if (isRecord && objectId !== null) return `/${environment}/records/${objectId}`;
  return businessId === installationId ? '/audit' : `/businesses/${businessId}`;
}

export const auditPages = listRoutes(auditList);
