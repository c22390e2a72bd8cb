import { claimWork, postponeWork, sweepDueWork } from '../events/outbox.ts';
import type { QueueName, Work, WorkKind } from '../events/work.ts';
import { addMs } from '../kit/clock.ts';
import type { Clock } from '../kit/clock.ts';
import type { Database } from '../kit/db.ts';
import { DueFloors } from '../kit/due-floors.ts';
import { KeyedLimiter } from '../kit/keyed-limiter.ts';
import type { Log } from '../kit/log.ts';
import { BatchQueue } from './batch-queue.ts';
import type { WorkQueue } from './worker.ts';

/** Does one task and completes or postpones it. It may be called again for the same task after a crash. */
export type WorkHandler = (work: Work) => Promise<void>;

export interface OutboxQueueOptions {
  db: Database;
  clock: Clock;
  log: Log;
  name: string;
  /** The kind of the topics that announce this work; a `workKey` follows it. */
  topicKind: string;
  queues: readonly QueueName[];
  handlers: Readonly<Partial<Record<WorkKind, WorkHandler>>>;
}

const pollIntervalMs = 1_000;
// Longer than any handler takes: network calls have shorter limits of their own.
const leaseMs = 60_000;
// Keys claimed for at once: each takes a database connection, during the claim.
const keysMax = 12;
// Per queue: all calls of thirty merchants may hang before another merchant waits in it; other queues never wait for it. A call
// that waits costs a socket and some kilobytes, but no database connection.
const queuePermits = 512;
const merchantPermits = 16;
// A claim for each task that ends would cost a statement each; a few at a time cost a fraction.
const claimMin = 4;
const failureDelayMaxMs = 60_000;

/** A merchant's work in one queue, which is claimed together. */
type WorkScope = Pick<Work, 'merchantId' | 'queue'>;

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
      { key: workKey(scope), max: merchantPermits },
    ],
  });
  const floors = new DueFloors();
  const batches = new BatchQueue<Work, WorkScope>(
    {
      capacity: (key) => ({ scope: parseWorkKey(key), concurrency: merchantPermits, prefetch: 0 }),
      claim: (key, rowsMax) => {
        const now = clock.now();
        const claimed = { ...parseWorkKey(key), now, leaseEndsAt: addMs(now, leaseMs), rowsMax };
        return floors.claim(key, now, {
          rowsFrom: (from) => claimWork(db, { ...claimed, from }),
          dueAtOf: ({ dueAt }) => dueAt,
        });
      },
      run: (work) => handle(options, work),
    },
    { clock, limiter, claimMin, claimMax: merchantPermits },
  );
  return {
    name,
    topicKind,
    pollIntervalMs,
    keysMax,
    listDueKeys: async () => {
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
async function handle({ db, clock, log, handlers }: OutboxQueueOptions, work: Work): Promise<void> {
  const handler = handlers[work.kind];
  try {
    if (!handler) throw new Error(`no handler for ${work.kind}`);
    await handler(work);
  } catch (error) {
    const { kind, attempts, merchantId } = work;
    log.error('work failed and will be tried again', error, { kind, attempts, merchant_id: merchantId });
    const delayMs = Math.min(failureDelayMaxMs, 1_000 * 2 ** Math.min(Number(attempts) - 1, 10));
    await postponeWork(db, work, addMs(clock.now(), delayMs)).catch((failure: unknown) =>
      log.error('work could not be postponed; it is due again when its lease ends', failure, { kind }),
    );
  }
}
