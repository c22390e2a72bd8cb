import type { AuditEntry } from '../../audit/audit-entry.ts';
import { changeText } from '../../audit/change-words.ts';

/** A column of the audit log as a table. */
interface AuditColumn {
  header: string;
  cell(entry: AuditEntry): string | null;
}

/**
 * The audit log as a table, for the operator and for a business: what only one of them has, such as the action in its words, stands
 * between when it was and what it was about.
 */
export function auditColumns(own: readonly AuditColumn[]): AuditColumn[] {
  return [
    { header: 'time', cell: ({ createdAt }) => createdAt.toISOString() },
    { header: 'environment', cell: environmentText },
    ...own,
    { header: 'record', cell: ({ objectType }) => objectType },
    { header: 'record_id', cell: ({ objectId }) => objectId },
    { header: 'changes', cell: ({ changes }) => changes.map(changeText).join('; ') },
    { header: 'address', cell: ({ address }) => address },
    { header: 'session', cell: ({ sessionId }) => sessionId },
    { header: 'request_id', cell: ({ requestId }) => requestId },
    { header: 'result', cell: ({ result }) => result },
  ];
}

/** Where it was done. */
export function environmentText({ testMode }: Pick<AuditEntry, 'testMode'>): string {
  if (testMode === null) return 'both';
  return testMode ? 'test' : 'live';
}
