import { createHash } from 'node:crypto';
import type { Transaction } from '../kit/db.ts';

/**
 * Waits until no other transaction of any process holds the lock of this name, and holds it until the end of `tx`. For rare work
 * at the start only: such a lock is held on one node of a distributed database.
 */
export async function acquireAdvisoryLock(tx: Transaction, name: string): Promise<void> {
  // The text before the name stays as it is: processes of two releases must lock each other out.
  const key = createHash('sha256').update(`dalasi turn ${name}`).digest().readBigInt64BE();
  await tx.run({ name: 'database.acquireAdvisoryLock', text: 'SELECT pg_advisory_xact_lock($1)', values: [key] });
}
