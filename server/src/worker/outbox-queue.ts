import { claimWork, listDueWork, postponeWork } from '../events/outbox.ts';
import type { QueueName, Work, WorkKind } from '../events/work.ts';
import { addMs } from '../kit/clock.ts';
import type { Clock } from '../kit/clock.ts';
import type { Database } from '../kit/db.ts';
import { KeyedLimiter } from '../kit/keyed-limiter.ts';
import type { Log } from '../kit/log.ts';
import { BatchQueue } from './batch-queue.ts';
import type { WorkQueue } from './worker.ts';

/** Does one piece of work and completes or postpones it. It may be called again for the same piece after a crash. */
export type WorkHandler = (work: Work) => Promise<void>;

interface OutboxQueueOptions {
  db: Database;
  clock: Clock;
  log: Log;
  name: string;
  /** Announces this work; what follows it is a `workKey`. */
  topicKind: string;
  queues: readonly QueueName[];
  handlers: Readonly<Partial<Record<WorkKind, WorkHandler>>>;
  /**
   * For work that is nothing but statements: does many pieces of a merchant in one transaction and answers whether more
   * may be due. What it cannot do is done piece by piece by the handlers, so that one bad piece holds up no other.
   */
  workBatch?: (merchantId: string) => Promise<boolean>;
}

const lookEveryMs = 1_000;
// Longer than any handler takes: network calls have their own, shorter limits.
const leaseMs = 60_000;
// Keys for which is claimed side by side: each a database connection, for the moment of the claim.
const keysMax = 8;
// Of each queue: thirty merchants may have all their calls hang before anybody else waits in it; in the other queues nobody
// ever waits for it. A call that waits costs a socket and some kilobytes, no database connection.
const queuePermits = 512;
const merchantPermits = 16;
// Claiming for each single piece that ends would cost a statement each; a few at a time cost a fraction.
const claimMin = 4;
const failureDelayMaxMs = 60_000;

/** Whose work in which queue: what is claimed together. */
interface WorkPlace {
  merchantId: string;
  queue: QueueName;
}

/** A work place as one word, for a queue's keys and its topics. */
export function workKey({ queue, merchantId }: WorkPlace): string {
  return `${queue}/${merchantId}`;
}

/**
 * Several queues of the outbox, found by one statement and worked merchant by merchant so that a long backlog of one
 * keeps nobody waiting. What is under way counts against its own queue only: one whose calls all hang is full, and the
 * others go on as if it were not there.
 */
export function outboxQueue(options: OutboxQueueOptions): WorkQueue & { batches: BatchQueue<Work, WorkPlace> } {
  const { db, clock, name, topicKind, queues } = options;
  const limiter = new KeyedLimiter<WorkPlace>({
    name,
    limitsOf: (place) => [
      { key: place.queue, max: queuePermits },
      { key: workKey(place), max: merchantPermits },
    ],
  });
  const batches = new BatchQueue<Work, WorkPlace>(
    {
      capacity: (key) => ({ scope: placeOf(key), concurrency: merchantPermits, prefetch: 0 }),
      claim: (key, rowsMax) => {
        const now = clock.now();
        return claimWork(db, { ...placeOf(key), now, leaseEndsAt: addMs(now, leaseMs), rowsMax });
      },
      run: (work) => handle(options, work),
    },
    { clock, limiter, claimMin, claimMax: merchantPermits },
  );
  return {
    name,
    topicKind,
    lookEveryMs,
    keysMax,
    listDueKeys: async () => (await listDueWork(db, queues, clock.now())).map(workKey),
    run: async (key, stopped) => {
      // A process of another version, or with other networks, announces queues that are not ours.
      if (!queues.includes(placeOf(key).queue)) return;
      if (!(await workInBatches(options, key, stopped))) await batches.run(key);
    },
    batches,
  };
}

function placeOf(key: string): WorkPlace {
  const end = key.lastIndexOf('/');
  return { queue: key.slice(0, Math.max(0, end)) as QueueName, merchantId: key.slice(end + 1) };
}

/** Answers false where there are no batches, or one has failed. */
async function workInBatches(
  { workBatch, name, log }: OutboxQueueOptions,
  key: string,
  stopped: AbortSignal,
): Promise<boolean> {
  if (!workBatch) return false;
  const { merchantId } = placeOf(key);
  try {
    while (!stopped.aborted && (await workBatch(merchantId)));
    return true;
  } catch (error) {
    log.error(`a batch of ${name} failed and will be done piece by piece`, error);
    return false;
  }
}

/** A handler that fails puts its work off, a little longer each time; the lease would bring it back anyway. */
async function handle({ db, clock, log, handlers }: OutboxQueueOptions, work: Work): Promise<void> {
  const handler = handlers[work.kind];
  try {
    if (!handler) throw new Error(`nobody handles ${work.kind}`);
    await handler(work);
  } catch (error) {
    const { kind, attempts, merchantId } = work;
    log.error('work failed and will be tried again', error, { kind, attempts, merchant_id: merchantId });
    const delayMs = Math.min(failureDelayMaxMs, 1_000 * 2 ** Math.min(Number(attempts) - 1, 10));
    await postponeWork(db, work, addMs(clock.now(), delayMs)).catch((failure: unknown) =>
      log.error('putting work off failed; its lease will end', failure, { kind }),
    );
  }
}
