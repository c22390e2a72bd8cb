import { listAuditEntries, type AuditFilter } from '../../audit/record-audit.ts';
import type { AuditEntry } from '../../audit/audit-entry.ts';
import { csvRows } from '../../kit/csv.ts';
import type { Visit } from '../visit.ts';
import { actionText } from './audit-texts.ts';
import { auditColumns } from '../../portal/records/audit-columns.ts';

// Small enough that a page of it is nothing, large enough that a long log takes few statements.
const rowsPerRead = 500;

/**
 * The log as a table, page by page, so that a log of any length takes no memory. Texts that a spreadsheet would read as a formula
 * come as text.
 */
export async function* auditCsv(visit: Visit, filter: AuditFilter): AsyncGenerator<string> {
  const { merchant, api } = visit;
  const { lists } = visit.money;
  const columns = auditColumns([
    { header: 'person', cell: ({ actorName }) => actorName },
    { header: 'action', cell: ({ action }) => actionText(api, action) },
  ]);
  yield csvRows([columns.map(({ header }) => header)]);
  let before: string | null = null;
  do {
    const page = { limit: rowsPerRead, offset: 0, before };
    const { rows, nextCursor }: { rows: AuditEntry[]; nextCursor: string | null } = await listAuditEntries(
      lists,
      merchant.businessId,
      page,
      filter,
    );
    yield csvRows(rows.map((entry) => columns.map(({ cell }) => cell(entry))));
    before = nextCursor;
  } while (before !== null);
}
