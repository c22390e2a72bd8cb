import { createHash } from 'node:crypto';
import type { Transaction } from '../kit/db.ts';

/**
 * Of transactions that take the same turn, in whichever process, one runs at a time; the next one sees what it
 * committed. For work of the start, which is rare: such a lock is held on one node only.
 */
export async function acquireAdvisoryLock(tx: Transaction, name: string): Promise<void> {
  const key = createHash('sha256').update(`dalasi turn ${name}`).digest().readBigInt64BE();
  await tx.run({ name: 'database.takeTurn', text: 'SELECT pg_advisory_xact_lock($1)', values: [key] });
}
