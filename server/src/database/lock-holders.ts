import type { AdminClient } from './admin-client.ts';

/** A session with an open transaction that another session waits for. */
export interface LockHolder {
  pid: number;
  /** Identifies the transaction as long as it is open. */
  transaction: string;
  application: string;
  /** Null for a process of the server itself, such as an autovacuum. */
  user: string | null;
  /** When the transaction began; null where this role may not see it. */
  since: Date | null;
}

/** The sessions that one waits for, those before it in the queue included; none while it does not wait. */
export async function findLockHolders(client: AdminClient, waitingPid: number): Promise<LockHolder[]> {
  const { rows } = await client.query<LockHolder>(
    `SELECT DISTINCT activity.pid, held.virtualtransaction AS transaction, activity.application_name AS application,
       activity.usename AS "user", activity.xact_start AS since
     FROM unnest(pg_blocking_pids($1)) AS blocking (pid)
     JOIN pg_stat_activity AS activity USING (pid)
     JOIN pg_locks AS held USING (pid)
     WHERE held.locktype = 'virtualxid' AND held.virtualxid = held.virtualtransaction
     ORDER BY since, activity.pid`,
    [waitingPid],
  );
  return rows;
}

/** Those of them whose transaction is still open. */
export async function findStillOpen(client: AdminClient, holders: readonly LockHolder[]): Promise<LockHolder[]> {
  const { rows } = await client.query<{ transaction: string }>(
    `SELECT virtualtransaction AS transaction FROM pg_locks
     WHERE locktype = 'virtualxid' AND virtualxid = virtualtransaction AND virtualxid = ANY ($1)`,
    [holders.map(({ transaction }) => transaction)],
  );
  return inBoth(holders, rows);
}

/** The holders whose transaction is also in the other list. */
export function inBoth(
  holders: readonly LockHolder[],
  others: readonly Pick<LockHolder, 'transaction'>[],
): LockHolder[] {
  const transactions = new Set(others.map(({ transaction }) => transaction));
  return holders.filter(({ transaction }) => transactions.has(transaction));
}

/** `session 4711 (pg_dump, user postgres, in a transaction since 2026-11-28T12:03:04.000Z)` */
export function describeLockHolder({ pid, application, user, since }: LockHolder): string {
  const facts = [
    ...(application === '' ? [] : [application]),
    user === null ? 'a process of the database server' : `user ${user}`,
    ...(since === null ? [] : [`in a transaction since ${since.toISOString()}`]),
  ];
  return `session ${pid} (${facts.join(', ')})`;
}
