import { listAuditEntries, type AuditFilter } from '../../audit/record-audit.ts';
import type { AuditEntry } from '../../audit/audit-entry.ts';
import { csvRows } from '../../kit/csv.ts';
import type { Visit } from '../visit.ts';
import { actionText } from './audit-texts.ts';
import { changeText } from '../../audit/change-words.ts';

const heading = [
  'time',
  'environment',
  'person',
  'action',
  'record',
  'record_id',
  'changes',
  'address',
  'session',
  'request_id',
  'result',
] as const;

// Small enough that a page of it is nothing, large enough that a long log takes few statements.
const rowsPerRead = 500;

/**
 * The log as a table, page by page, so that a log of any length takes no memory. Texts that a spreadsheet would read as a formula
 * come as text.
 */
export async function* auditCsv(visit: Visit, filter: AuditFilter): AsyncGenerator<string> {
  const { merchant } = visit;
  const { lists } = visit.money;
  yield csvRows([heading]);
  let before: string | null = null;
  do {
    const page = { limit: rowsPerRead, offset: 0, before };
    const { rows, nextCursor }: { rows: AuditEntry[]; nextCursor: string | null } = await listAuditEntries(
      lists,
      merchant.businessId,
      page,
      filter,
    );
    yield csvRows(rows.map(rowOf(visit)));
    before = nextCursor;
  } while (before !== null);
}

function environmentOf({ testMode }: AuditEntry): string {
  if (testMode === null) return 'both';
  return testMode ? 'test' : 'live';
}

function rowOf({ api }: Visit): (entry: AuditEntry) => (string | null)[] {
  return (entry) => [
    entry.createdAt.toISOString(),
    environmentOf(entry),
    entry.actorName,
    actionText(api, entry.action),
    entry.objectType,
    entry.objectId,
    entry.changes.map(changeText).join('; '),
    entry.address,
    entry.sessionId,
    entry.requestId,
    entry.result,
  ];
}
