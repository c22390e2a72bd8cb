import type { ChangeFeed } from '../kit/changes.ts';
import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import type { LimiterFigures } from '../kit/keyed-limiter.ts';
import { KeyedRunner } from '../kit/keyed-runner.ts';

/**
 * A queue: what is due, by key (a merchant in it, an endpoint of a merchant), and how to work one key. Hints make it start
 * within milliseconds; the look each second finds what a lost hint or a dead worker left behind.
 */
export interface WorkQueue {
  name: string;
  /** Looked after now and then without anything being due; a drain runs it once. */
  isChore?: true;
  /** The kind of the topics that announce such work; what follows the colon is the key. */
  topicKind?: string;
  lookEveryMs: number;
  /** Keys run side by side in this process. */
  keysMax: number;
  listDueKeys(): Promise<readonly string[]>;
  /** Does what is due for the key, or sets it going; once `stopped` is aborted it takes nothing new. Never twice at once for a key. */
  run(key: string, stopped: AbortSignal): Promise<void>;
  /** What `run` sets going and does not wait for. */
  batches?: Batches;
}

/** Items under way beside `run`; `batch-queue.ts` has them. */
export interface Batches {
  /** Whose permits the items take. */
  readonly limiter: LimiterFigures;
  /** Handed the way to have a key run again. */
  attach(schedule: (key: string) => void): void;
  readonly isIdle: boolean;
  idle(): Promise<void>;
  /** Starts nothing more. */
  stop(): void;
}

export interface Worker {
  /** Does everything that is due now, and what becomes due through it. */
  drain(): Promise<void>;
  /** Takes no new work and waits for what is under way. */
  stop(): Promise<void>;
}

interface WorkerOptions {
  clock: Clock;
  changes: ChangeFeed;
  log: Log;
  queues: readonly WorkQueue[];
}

// A queue that finds more to do each time it is asked would otherwise keep a drain from ending.
const drainRoundsMax = 50;
// While the database is away every look of every queue fails. The operator needs to know, and that it goes on.
const repeatAfterMs = 60_000;

export function startWorker(options: WorkerOptions): Worker {
  const stopped = new AbortController();
  const parts = options.queues.map((queue) => startQueue(options, queue, stopped.signal));
  return {
    drain: async () => {
      for (const chore of parts.filter((part) => part.isChore)) await chore.look();
      const queues = parts.filter((part) => !part.isChore);
      for (let round = 0; round < drainRoundsMax; round += 1) {
        for (const part of parts) await part.idle();
        let found = 0;
        for (const part of queues) found += await part.look();
        // What one part did while another was waited for may have started a third, which is no longer due.
        if (found === 0 && parts.every((part) => part.isIdle())) return;
      }
    },
    stop: async () => {
      stopped.abort();
      for (const part of parts) part.end();
      await Promise.all(parts.map((part) => part.loop));
      for (const part of parts) await part.idle();
    },
  };
}

interface RunningQueue {
  isChore: boolean;
  isIdle(): boolean;
  idle(): Promise<void>;
  loop: Promise<void>;
  look(): Promise<number>;
  end(): void;
}

function startQueue(options: WorkerOptions, queue: WorkQueue, stopped: AbortSignal): RunningQueue {
  const { batches } = queue;
  const runner = new KeyedRunner(async (key) => {
    if (stopped.aborted) return;
    try {
      await queue.run(key, stopped);
    } catch (error) {
      // The work stays due in its table; the next look tries again.
      options.log.error(`${queue.name} failed and will be tried again`, error);
    }
  }, queue.keysMax);
  const schedule = (key: string): void => {
    if (!stopped.aborted) runner.schedule(key);
  };
  const look = async (): Promise<number> => {
    const keys = await queue.listDueKeys();
    for (const key of keys) schedule(key);
    return keys.length;
  };
  const { topicKind } = queue;
  const unsubscribe = topicKind === undefined ? () => {} : options.changes.subscribeKind(topicKind, schedule);
  batches?.attach(schedule);
  return {
    isChore: queue.isChore === true,
    isIdle: () => runner.isIdle && (batches?.isIdle ?? true),
    idle: async () => {
      await runner.idle();
      await batches?.idle();
      // What ended last may have asked for more.
      await runner.idle();
    },
    look,
    loop: lookLoop(options, queue, look, stopped),
    end: () => {
      unsubscribe();
      runner.clearWaiting();
      batches?.stop();
    },
  };
}

async function lookLoop(
  options: WorkerOptions,
  queue: WorkQueue,
  look: () => Promise<number>,
  stopped: AbortSignal,
): Promise<void> {
  let quietUntilMs = 0;
  while (!stopped.aborted) {
    try {
      await look();
      quietUntilMs = 0;
    } catch (error) {
      const nowMs = options.clock.now().getTime();
      if (nowMs >= quietUntilMs) {
        options.log.error(`looking for ${queue.name} failed and will be tried again`, error);
        quietUntilMs = nowMs + repeatAfterMs;
      }
    }
    await options.clock.sleep(queue.lookEveryMs, stopped);
  }
}
