import { createHash } from 'node:crypto';
import type { Transaction } from '../kit/db.ts';

/**
 * Takes the lock of this name until the end of `tx`; returns false, without waiting, while another process has it. For rare work
 * that one process is enough for: two databases of a cluster would each grant it.
 */
export async function tryAdvisoryLock(tx: Transaction, name: string): Promise<boolean> {
  const statement = { name: 'database.tryAdvisoryLock', values: [keyOf(name)] };
  const row = await tx.row<{ acquired: boolean }>({
    ...statement,
    text: 'SELECT pg_try_advisory_xact_lock($1) AS acquired',
  });
  return row?.acquired === true;
}

/**
 * Waits until no other transaction of any process holds the lock of this name, and holds it until the end of `tx`. For rare work
 * only, such as at the start: such a lock is held on one node of a distributed database.
 */
export async function acquireAdvisoryLock(tx: Transaction, name: string): Promise<void> {
  const values = [keyOf(name)];
  await tx.run({ name: 'database.acquireAdvisoryLock', text: 'SELECT pg_advisory_xact_lock($1)', values });
}

function keyOf(name: string): bigint {
  // The text before the name stays as it is: processes of two releases must lock each other out.
  return createHash('sha256').update(`dalasi turn ${name}`).digest().readBigInt64BE();
}
