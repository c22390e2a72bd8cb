import type { ChangeFeed } from '../kit/changes.ts';
import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import type { LimiterFigures } from '../kit/keyed-limiter.ts';
import type { Heartbeats } from './heartbeats.ts';
import { KeyedRunner } from '../kit/keyed-runner.ts';

/**
 * A queue: which keys have due work (a merchant in it, an endpoint of a merchant), and how to work one key. Hints start the
 * work within milliseconds; polling finds what a lost hint or a dead worker left behind.
 */
export interface WorkQueue {
  name: string;
  /**
   * Work that nothing announces. Only time makes records old enough for a `purge`: it begins a minute after the start, and a
   * drain runs it only when its interval has passed. A `chore` begins with the start, and a drain runs it once.
   */
  background?: 'chore' | 'purge';
  /** The kind of the topics that announce such work; the key follows the colon. */
  topicKind?: string;
  pollIntervalMs: number;
  /** Keys worked at once in this process. */
  keysMax: number;
  listDueKeys(): Promise<readonly string[]>;
  /** Does the key's due work, or starts it; takes nothing new once `stopped` is aborted. Never twice at once for a key. */
  run(key: string, stopped: AbortSignal): Promise<void>;
  /** The work that `run` starts and does not wait for. */
  batches?: Batches;
}

/** Items under way beside `run`; `batch-queue.ts` implements it. */
export interface Batches {
  /** Grants the permits of the items. */
  readonly limiter: LimiterFigures;
  /** Receives the function that has a key run again. */
  attach(schedule: (key: string) => void): void;
  readonly isIdle: boolean;
  idle(): Promise<void>;
  /** Starts nothing more. */
  stop(): void;
}

export interface Worker {
  /** Does everything that is due now, and what becomes due through it; for tests. */
  drain(): Promise<void>;
  /** Takes no new work and waits for what is under way. */
  stop(): Promise<void>;
}

interface WorkerOptions {
  clock: Clock;
  changes: ChangeFeed;
  log: Log;
  queues: readonly WorkQueue[];
  heartbeats?: Heartbeats;
}

// A queue that always has more due work would otherwise keep a drain from ending.
const drainRoundsMax = 50;
// While the database is unavailable, every poll of every queue fails. The operator needs to know, and that it goes on.
const logIntervalMs = 60_000;
// Of what is due once an hour: one failure is mended soon, and two in a row raise the alert in time (examples/prometheus/alerts.yml).
const retryAfterMs = 30_000;
// A process that has just started has requests and payments to serve, on connections without plans.
const firstPurgeAfterMs = 60_000;

export function startWorker(options: WorkerOptions): Worker {
  const stopped = new AbortController();
  const running = options.queues.map((queue) => startQueue(options, queue, stopped.signal));
  return {
    drain: async () => {
      for (const queue of running) if (queue.isBackgroundDue()) await queue.poll();
      const queues = running.filter((queue) => !queue.isBackground);
      for (let round = 0; round < drainRoundsMax; round += 1) {
        for (const queue of running) await queue.idle();
        let found = 0;
        for (const queue of queues) found += await queue.poll();
        // While one queue was awaited, another may have started work in a third that is no longer due there.
        if (found === 0 && running.every((queue) => queue.isIdle())) return;
      }
    },
    stop: async () => {
      stopped.abort();
      for (const queue of running) queue.stop();
      await Promise.all(running.map((queue) => queue.loop));
      for (const queue of running) await queue.idle();
    },
  };
}

interface RunningQueue {
  isBackground: boolean;
  /** Whether a drain has to run it. */
  isBackgroundDue(): boolean;
  isIdle(): boolean;
  idle(): Promise<void>;
  loop: Promise<void>;
  poll(): Promise<number>;
  stop(): void;
}

function startQueue(options: WorkerOptions, queue: WorkQueue, stopped: AbortSignal): RunningQueue {
  const { batches, background, topicKind } = queue;
  const firstAfterMs = background === 'purge' ? firstPurgeAfterMs : 0;
  options.heartbeats?.expect(queue, firstAfterMs);
  const runner = new KeyedRunner(async (key) => {
    if (stopped.aborted) return;
    try {
      if (background !== undefined) options.heartbeats?.begin(queue.name);
      await queue.run(key, stopped);
      if (background !== undefined) options.heartbeats?.beat(queue.name);
    } catch (error) {
      // The work stays due in its table; the next poll finds it.
      options.log.error(`${queue.name} failed and will be tried again`, error);
      if (background === undefined) return;
      options.heartbeats?.fail(queue.name);
      retryLater(key);
    }
  }, queue.keysMax);
  let isRetryPending = false;
  // One at a time: otherwise each poll of what keeps failing would begin another series of retries.
  const retryLater = (key: string): void => {
    if (isRetryPending || queue.pollIntervalMs <= retryAfterMs) return;
    isRetryPending = true;
    void options.clock.sleep(retryAfterMs, stopped).then(() => {
      isRetryPending = false;
      schedule(key);
    });
  };
  const schedule = (key: string): void => {
    if (!stopped.aborted) runner.schedule(key);
  };
  const nowMs = (): number => options.clock.now().getTime();
  let polledAtMs = nowMs();
  const poll = async (): Promise<number> => {
    polledAtMs = nowMs();
    const keys = await queue.listDueKeys();
    // A chore is worked when it is done; in a restored copy that is held there is none.
    if (background === undefined || keys.length === 0) options.heartbeats?.beat(queue.name);
    for (const key of keys) schedule(key);
    return keys.length;
  };
  const unsubscribe = topicKind === undefined ? () => {} : options.changes.subscribeKind(topicKind, schedule);
  batches?.attach(schedule);
  return {
    isBackground: background !== undefined,
    isBackgroundDue: () =>
      background === 'chore' || (background === 'purge' && nowMs() - polledAtMs >= queue.pollIntervalMs),
    isIdle: () => runner.isIdle && (batches?.isIdle ?? true),
    idle: async () => {
      await runner.idle();
      await batches?.idle();
      // The last item may have scheduled its key again.
      await runner.idle();
    },
    poll,
    loop: pollLoop(options, queue, { poll, firstAfterMs }, stopped),
    stop: () => {
      unsubscribe();
      runner.clearWaiting();
      batches?.stop();
    },
  };
}

async function pollLoop(
  options: WorkerOptions,
  queue: WorkQueue,
  { poll, firstAfterMs }: { poll: () => Promise<number>; firstAfterMs: number },
  stopped: AbortSignal,
): Promise<void> {
  let quietUntilMs = 0;
  if (firstAfterMs > 0) await options.clock.sleep(firstAfterMs, stopped);
  while (!stopped.aborted) {
    let waitMs = queue.pollIntervalMs;
    try {
      await poll();
      quietUntilMs = 0;
    } catch (error) {
      options.heartbeats?.fail(queue.name);
      waitMs = Math.min(waitMs, retryAfterMs);
      const nowMs = options.clock.now().getTime();
      if (nowMs >= quietUntilMs) {
        options.log.error(`polling for ${queue.name} failed and will be tried again`, error);
        quietUntilMs = nowMs + logIntervalMs;
      }
    }
    await options.clock.sleep(waitMs, stopped);
  }
}
