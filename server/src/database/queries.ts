import type { Queryable } from '../kit/db.ts';
import { rowsBy, valueBy } from '../kit/run-statement.ts';

/**
 * How much of PostgreSQL's transaction ids, or of its ids of shared row locks, is used up in the database of the server that has
 * used most: 0 to 1. At 1 the server refuses writes.
 */
export async function readTransactionIdUse(db: Queryable): Promise<number> {
  const row = await db.row<{ used: bigint }>({
    name: 'database_transaction_ids',
    text: `SELECT greatest(max(age(datfrozenxid)), max(mxid_age(datminmxid)))::bigint AS used FROM pg_database`,
    values: [],
  });
  return Number(row?.used ?? 0n) / 2 ** 31;
}

/**
 * When the oldest open transaction of another session began; null without one. A role that is no member of `pg_read_all_stats` sees
 * its own sessions only.
 */
export const findOldestTransactionStart = valueBy<Date | null, []>({
  name: 'database_oldest_transaction',
  text: `SELECT min(xact_start) AS value FROM pg_stat_activity
         WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`,
  none: null,
});

/** Rows of the tables that work as queues which no vacuum could remove yet: they grow while any session keeps an old snapshot. */
export const countDeadQueueRows = rowsBy<{ table: string; dead: bigint }, []>({
  name: 'database_dead_rows',
  text: `SELECT relname AS table, n_dead_tup AS dead FROM pg_stat_user_tables
         WHERE schemaname = 'public' AND relname IN ('outbox', 'network_inbox', 'webhook_deliveries') ORDER BY relname`,
});

/** By the clock of the database's server, which all processes have in common. */
export const readServerTime = valueBy<Date | null, []>({
  name: 'database_time',
  text: 'SELECT clock_timestamp() AS value',
  none: null,
});
