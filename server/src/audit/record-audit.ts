import type { Clock } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import type { AuditEntry } from './audit-entry.ts';
import { insertAuditEntry } from './queries.ts';

export type { AuditFilter } from './queries.ts';
export { findNewestEntryOf, listActorsOn, listAuditEntries, listOperatorEntries } from './queries.ts';

/** Writes the entry in the transaction of its effect, so that neither exists without the other. */
export function recordAudit(
  tx: Transaction,
  { clock, newId }: { clock: Clock; newId: () => string },
  { result = 'done', ...entry }: Omit<AuditEntry, 'id' | 'createdAt' | 'result'> & Partial<Pick<AuditEntry, 'result'>>,
): void {
  tx.send(insertAuditEntry({ ...entry, result, id: newId(), createdAt: clock.now() }));
}
