import {
  countDeadQueueRows,
  findOldestTransactionStart,
  readServerTime,
  readTransactionIdUse,
} from '../database/watch-database.ts';
import type { Metrics } from '../http/metrics.ts';
import { secondsSince, type Clock } from '../kit/clock.ts';
import type { Database } from '../kit/db.ts';

/**
 * What stops a database that nobody watches: ids that run out, old snapshots under which queues grow, and a process whose clock is
 * ahead, whose work the others take for due later.
 */
export function registerDatabaseGauges(metrics: Metrics, { db, clock }: { db: Database; clock: Clock }): void {
  metrics.figure(
    'dalasi_database_transaction_ids_used_ratio',
    'How much of PostgreSQL’s transaction ids is used up, 0 to 1; at 1 it refuses writes.',
    () => readTransactionIdUse(db),
  );
  metrics.figure(
    'dalasi_database_oldest_transaction_seconds',
    'How long the oldest transaction has been open, of the sessions that the service’s role may see.',
    async () => {
      const startedAt = await findOldestTransactionStart(db);
      return startedAt === null ? 0 : Math.max(0, secondsSince(clock, startedAt));
    },
  );
  metrics.figure(
    'dalasi_clock_off_seconds',
    'How far this process’s clock is ahead of the database’s, or behind it.',
    async () => {
      const before = clock.now();
      const time = (await readServerTime(db)) ?? before;
      return Math.max(0, (before.getTime() - time.getTime()) / 1_000, -secondsSince(clock, time));
    },
  );
  metrics.gauge(
    'dalasi_database_dead_rows',
    'Rows of the tables that work as queues that no vacuum has removed yet.',
    ['table'],
    async (set) => {
      for (const { table, dead } of await countDeadQueueRows(db)) set({ table }, Number(dead));
    },
  );
}
