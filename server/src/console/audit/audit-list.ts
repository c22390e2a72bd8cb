import { installationId } from '../../audit/audit-entry.ts';
import type { AuditEntry } from '../../audit/audit-entry.ts';
import { listAuditEntries } from '../../audit/record-audit.ts';
import { html } from '../../kit/html.ts';
import { isUuid } from '../../kit/ids.ts';
import { pageOf } from '../../portal/patterns/page-of-list.ts';
import { shownTime } from '../../portal/patterns/texts.ts';
import { createdRange } from '../../portal/patterns/time-filter.ts';
import { listRoute } from '../console-route.ts';

/** What operators and a business's people did: of the installation, or of the business whose id is in the address. */
export const auditList = listRoute<AuditEntry>({
  path: '/audit',
  section: 'audit',
  action: 'records.read',
  title: 'Audit log',
  noun: ['entry', 'entries'],
  filters: [
    { kind: 'search', name: 'term', label: 'Who, what, or an id' },
    { kind: 'search', name: 'business', label: 'Id of a business' },
    { kind: 'date', name: 'from', label: 'From' },
    { kind: 'date', name: 'to', label: 'To' },
  ],
  async read({ money }, _visit, query) {
    const { business = '', term = '' } = query;
    const page = pageOf(query);
    return listAuditEntries(money.lists, isUuid(business) ? business : installationId, page, {
      ...(term !== '' && { term }),
      ...createdRange(query),
    });
  },
  columns: [
    {
      header: 'What',
      isMain: true,
      cell: ({ action, createdAt }, { now }) => html`<span class="first">${action}</span>
<span class="second phone">${shownTime(createdAt, now)}</span>`,
    },
    { header: 'Time', cell: ({ createdAt }, { now }) => shownTime(createdAt, now) },
    { header: 'Who', isMain: true, cell: ({ actorName }) => html`<bdi>${actorName}</bdi>` },
    { header: 'Record', cell: ({ objectType, objectId }) => `${objectType ?? ''} ${objectId ?? ''}` },
    {
      header: 'Changes',
      cell: ({ changes }) =>
        changes.map(({ field, before, after }) => `${field}: ${before ?? 'none'} > ${after ?? 'none'}`).join('; '),
    },
  ],
  href: ({ objectId, objectType }) =>
    objectType === 'business' && objectId !== null ? `/businesses/${objectId}` : '/audit',
  empty: { text: 'Nothing has been done yet.' },
});
