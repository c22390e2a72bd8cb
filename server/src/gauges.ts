import { countOpenCases } from './cases/list-cases.ts';
import { outboxBacklog } from './events/outbox.ts';
import type { Metrics } from './http/metrics.ts';
import type { Clock } from './kit/clock.ts';
import type { Database } from './kit/db.ts';
import { summarizePauses } from './networks/pauses.ts';
import type { PauseCopy } from './networks/pause-copy.ts';
import type { NetworkRegistry } from './networks/registry.ts';

const pauseLabels = ['network', 'reason', 'environment'];

interface GaugeContext {
  db: Database;
  clock: Clock;
  networks: NetworkRegistry;
  pauses: PauseCopy;
}

/** What an operator is woken by: work that piles up, and cases that wait for a person. Read when Prometheus asks. */
export function registerGauges(metrics: Metrics, context: GaugeContext): void {
  const { db, clock } = context;
  metrics.gauge('dalasi_outbox_due', 'Pieces of work that are due, by queue.', ['queue'], async (set) => {
    for (const { queue, count } of await outboxBacklog(db, clock.now())) set({ queue }, Number(count));
  });
  metrics.gauge('dalasi_outbox_oldest_due_seconds', 'How long the oldest has been due.', ['queue'], async (set) => {
    const now = clock.now();
    for (const { queue, oldestDueAt } of await outboxBacklog(db, now)) {
      if (oldestDueAt) set({ queue }, (now.getTime() - oldestDueAt.getTime()) / 1_000);
    }
  });
  metrics.gauge('dalasi_outbox_waiting', 'Pieces of work for a later moment, by queue.', ['queue'], async (set) => {
    for (const { queue, waitingCount } of await outboxBacklog(db, clock.now())) set({ queue }, Number(waitingCount));
  });
  metrics.gauge('dalasi_network_paused', '1 while a network takes no payouts.', pauseLabels, async (set) => {
    for (const { capabilities, pause } of (await summarizePauses(context)).networks) {
      const environment = capabilities.testMode ? 'test' : 'live';
      if (pause) set({ network: capabilities.network, environment, reason: pause.reason }, 1);
    }
  });
  metrics.gauge('dalasi_numbers_paused', 'Test numbers whose payouts are paused.', [], async (set) =>
    set({}, (await summarizePauses(context)).scopedCount),
  );
  metrics.gauge('dalasi_cases_open', 'Cases that wait for a person, by kind.', ['kind'], async (set) => {
    for (const { kind, count } of await countOpenCases(db)) set({ kind }, Number(count));
  });
  metrics.gauge('dalasi_database_waiting', 'Requests that wait for a database connection.', [], (set) => {
    set({}, db.waiting);
    return Promise.resolve();
  });
}
