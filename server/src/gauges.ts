import { countOpenCases } from './cases/list-cases.ts';
import { outboxBacklog } from './events/outbox.ts';
import type { Metrics } from './http/metrics.ts';
import type { Clock } from './kit/clock.ts';
import type { Database } from './kit/db.ts';

/** What an operator is woken by: work that piles up, and cases that wait for a person. Read when Prometheus asks. */
export function registerGauges(metrics: Metrics, { db, clock }: { db: Database; clock: Clock }): void {
  metrics.gauge('dalasi_outbox_due', 'Pieces of work that are due, by queue.', ['queue'], async (set) => {
    for (const { queue, count } of await outboxBacklog(db, clock.now())) set({ queue }, Number(count));
  });
  metrics.gauge('dalasi_outbox_oldest_due_seconds', 'How long the oldest has been due.', ['queue'], async (set) => {
    const now = clock.now();
    for (const { queue, oldestDueAt } of await outboxBacklog(db, now)) {
      set({ queue }, (now.getTime() - oldestDueAt.getTime()) / 1_000);
    }
  });
  metrics.gauge('dalasi_cases_open', 'Cases that wait for a person, by kind.', ['kind'], async (set) => {
    for (const { kind, count } of await countOpenCases(db)) set({ kind }, Number(count));
  });
  metrics.gauge('dalasi_database_waiting', 'Requests that wait for a database connection.', [], (set) => {
    set({}, db.waiting);
    return Promise.resolve();
  });
}
