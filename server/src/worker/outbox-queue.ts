import { claimWork, postponeWork, sweepDueWork } from '../events/outbox.ts';
import type { QueueName, Work, WorkKind } from '../events/work.ts';
import { AdaptiveConcurrencies, type ConcurrencyLimits, type WatchCall } from '../kit/adaptive-concurrency.ts';
import { addMs, type Clock } from '../kit/clock.ts';
import type { Database } from '../kit/db.ts';
import { DueFloors } from '../kit/due-floors.ts';
import { KeyedLimiter } from '../kit/keyed-limiter.ts';
import type { Log } from '../kit/log.ts';
import type { ClaimTiming } from '../kit/pace.ts';
import { BatchQueue } from './batch-queue.ts';
import { TaskTimes } from './task-times.ts';
import type { WorkQueue } from './worker.ts';

/**
 * Does one task and completes or postpones it. It may be called again for the same task after a crash. Whoever makes its calls
 * through `watch` gets more tasks at once while they are answered quickly.
 */
export type WorkHandler = (work: Work, watch: WatchCall) => Promise<void>;

export interface OutboxQueueOptions {
  db: Database;
  clock: Clock;
  log: Log;
  name: string;
  /** The kind of the topics that announce this work; a `workKey` follows it. */
  topicKind: string;
  queues: readonly QueueName[];
  handlers: Readonly<Partial<Record<WorkKind, WorkHandler>>>;
  /** Hears of every claim. */
  pace?: WorkPace;
}

/** Those who add to the work of a scope wait while it is late. */
export interface WorkPace {
  noteClaim(scope: WorkScope, timing: ClaimTiming): void;
  /** Called with every poll. */
  expire(): void;
}

const pollIntervalMs = 1_000;
// Longer than any handler takes: network calls have shorter limits of their own.
const leaseMs = 60_000;
// Keys claimed for at once: each takes a database connection, during the claim.
const keysMax = 12;
// Of one merchant in one queue: sixteen, so that few transfers are in doubt when a network stops responding. While it responds within a
// second, a backlog raises that: tasks that go through the same step together share its statements and its commit. Of 400 transfers
// accepted a second, a process sent half with sixteen, or a tenth on a busy machine, and nine tenths with 64.
const merchantLimits: ConcurrencyLimits = { initial: 16, usual: 16, quickMax: 64, slowMax: 16, hangingMin: 16 };
// Per queue: all calls of thirty merchants may hang before another merchant waits in it; other queues never wait for it. A task
// that waits costs some kilobytes, but no database connection.
const queuePermits = 32 * merchantLimits.quickMax;
// A claim for each task that ends would cost a statement each; a few at a time cost a fraction.
const claimMin = 4;
// Tasks that wait for their network take nine tenths of their time or more in calls.
const callShareMax = 0.75;
const failureDelayMaxMs = 60_000;

/** A merchant's work in one queue, which is claimed together. */
export type WorkScope = Pick<Work, 'merchantId' | 'queue'>;

/** A work scope as text, for a queue's keys and its topics. */
export function workKey({ queue, merchantId }: WorkScope): string {
  return `${queue}/${merchantId}`;
}

/**
 * Several queues of the outbox, polled by one statement and worked merchant by merchant, so that no merchant waits for the long
 * backlog of another. Tasks under way count against their own queue only: a queue whose calls all hang is full, and the others
 * are not affected.
 */
export function outboxQueue(options: OutboxQueueOptions): WorkQueue & { batches: BatchQueue<Work, WorkScope> } {
  const { db, clock, name, topicKind, queues } = options;
  const limiter = new KeyedLimiter<WorkScope>({
    name,
    limitsOf: (scope) => [
      { key: scope.queue, max: queuePermits },
      { key: workKey(scope), max: merchantLimits.quickMax },
    ],
  });
  const floors = new DueFloors();
  const concurrencies = new AdaptiveConcurrencies(merchantLimits);
  const times = new TaskTimes();
  const batches = new BatchQueue<Work, WorkScope>(
    {
      capacity: (key) => {
        const { limit: concurrency } = concurrencies.get(key).current(clock.now().getTime());
        return { scope: parseWorkKey(key), concurrency, prefetch: 0 };
      },
      claim: async (key, rowsMax) => {
        const now = clock.now();
        const claimed = { ...parseWorkKey(key), now, leaseEndsAt: addMs(now, leaseMs), rowsMax };
        const works = await floors.claim(key, now, {
          rowsFrom: (from) => claimWork(db, { ...claimed, from }),
          dueAtOf: ({ dueAt }) => dueAt,
        });
        options.pace?.noteClaim(parseWorkKey(key), {
          count: works.length,
          lateMs: Math.max(0, ...works.map(({ dueAt }) => now.getTime() - dueAt.getTime())),
          isOwnDelay: times.callShare(key) < callShareMax,
        });
        return works;
      },
      run: async (work, { hasBacklog }) => {
        const key = workKey(work);
        const concurrency = concurrencies.get(key);
        const beganAtMs = clock.now().getTime();
        let callMs = 0;
        await handle(options, work, (send, hasResponded) =>
          concurrency.watch({ clock, hasBacklog, observeMs: (ms) => (callMs += ms) }, send, hasResponded),
        );
        times.note(key, { taskMs: clock.now().getTime() - beganAtMs, callMs });
      },
      onIdle: (key) => concurrencies.get(key).endBacklog(),
    },
    { clock, limiter, claimMin, claimMax: merchantLimits.quickMax },
  );
  return {
    name,
    topicKind,
    pollIntervalMs,
    keysMax,
    listDueKeys: async () => {
      options.pace?.expire();
      const search = floors.nextSweep(clock.now());
      const found = await sweepDueWork(db, queues, search);
      return floors.noteSweep(
        search,
        found.map((scope) => ({ key: workKey(scope), fromStart: scope.fromStart })),
      );
    },
    run: async (key) => {
      // Processes of another version, or with other networks, announce queues that are not worked here.
      if (!queues.includes(parseWorkKey(key).queue)) return;
      await batches.run(key);
    },
    batches,
  };
}

function parseWorkKey(key: string): WorkScope {
  const end = key.lastIndexOf('/');
  return { queue: key.slice(0, Math.max(0, end)) as QueueName, merchantId: key.slice(end + 1) };
}

/** Postpones the work of a handler that fails, longer each time; it would be due again anyway when its lease ends. */
async function handle({ db, clock, log, handlers }: OutboxQueueOptions, work: Work, watch: WatchCall): Promise<void> {
  const handler = handlers[work.kind];
  try {
    if (!handler) throw new Error(`no handler for ${work.kind}`);
    await handler(work, watch);
  } catch (error) {
    const { kind, attempts, merchantId } = work;
    log.error('work failed and will be tried again', error, { kind, attempts, merchant_id: merchantId });
    const delayMs = Math.min(failureDelayMaxMs, 1_000 * 2 ** Math.min(Number(attempts) - 1, 10));
    await postponeWork(db, work, addMs(clock.now(), delayMs)).catch((failure: unknown) =>
      log.error('work could not be postponed; it is due again when its lease ends', failure, { kind }),
    );
  }
}
