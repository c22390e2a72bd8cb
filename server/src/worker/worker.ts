import type { ChangeFeed } from '../kit/changes.ts';
import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import { KeyedRunner } from './keyed-runner.ts';

/**
 * A kind of work: what is due, by key (a merchant, a lane), and how to do it for one key. Hints make it start within
 * milliseconds; the sweep finds what a lost hint or a dead worker left behind.
 */
export interface WorkSource {
  name: string;
  /** Looked after now and then without anything being due; a drain runs it once. */
  isChore?: true;
  /** The kind of the topics that announce such work; what follows the colon is the key. */
  topicKind?: string;
  sweepEveryMs: number;
  /** Keys worked side by side in this process. */
  keysMax: number;
  listDueKeys(): Promise<readonly string[]>;
  /** Does what is due for the key; once `stopped` is aborted it takes nothing new and ends what it has begun. */
  run(key: string, stopped: AbortSignal): Promise<void>;
  /** Told that there is more for a key that is being worked; it is run once more afterwards in any case. */
  whileRunning?(key: string): void;
  /** Handed the way to ask for a key to be run again. */
  attach?(poke: (key: string) => void): void;
  /** What `run` set going and did not wait for. */
  background?: { readonly isIdle: boolean; idle(): Promise<void> };
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
  sources: readonly WorkSource[];
}

// A source that finds more to do each time it is asked would otherwise keep a drain from ending.
const drainRoundsMax = 50;
// While the database is away every look of every source fails. The operator needs to know, and that it goes on.
const repeatAfterMs = 60_000;

export function startWorker(options: WorkerOptions): Worker {
  const stopped = new AbortController();
  const parts = options.sources.map((source) => startSource(options, source, stopped.signal));
  return {
    drain: async () => {
      for (const chore of parts.filter((part) => part.source.isChore)) await chore.sweep();
      const queues = parts.filter((part) => !part.source.isChore);
      for (let round = 0; round < drainRoundsMax; round += 1) {
        for (const part of parts) await part.idle();
        let found = 0;
        for (const part of queues) found += await part.sweep();
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

interface RunningSource {
  source: WorkSource;
  isIdle(): boolean;
  idle(): Promise<void>;
  loop: Promise<void>;
  sweep(): Promise<number>;
  end(): void;
}

function startSource(options: WorkerOptions, source: WorkSource, stopped: AbortSignal): RunningSource {
  const runner = new KeyedRunner(
    async (key) => {
      if (stopped.aborted) return;
      try {
        await source.run(key, stopped);
      } catch (error) {
        // The work stays due in its table; the next sweep tries again.
        options.log.error(`${source.name} failed and will be tried again`, error);
      }
    },
    source.keysMax,
    source.whileRunning,
  );
  const sweep = async (): Promise<number> => {
    const keys = await source.listDueKeys();
    for (const key of keys) runner.poke(key);
    return keys.length;
  };
  const unsubscribe =
    source.topicKind === undefined
      ? () => {}
      : options.changes.subscribeKind(source.topicKind, (key) => {
          if (!stopped.aborted) runner.poke(key);
        });
  source.attach?.((key) => {
    if (!stopped.aborted) runner.poke(key);
  });
  return {
    source,
    isIdle: () => runner.isIdle && (source.background?.isIdle ?? true),
    idle: async () => {
      await runner.idle();
      await source.background?.idle();
      // What ended last may have asked for more.
      await runner.idle();
    },
    sweep,
    loop: sweepLoop(options, source, sweep, stopped),
    end: () => {
      unsubscribe();
      runner.clearWaiting();
    },
  };
}

async function sweepLoop(
  options: WorkerOptions,
  source: WorkSource,
  sweep: () => Promise<number>,
  stopped: AbortSignal,
): Promise<void> {
  let quietUntilMs = 0;
  while (!stopped.aborted) {
    try {
      await sweep();
      quietUntilMs = 0;
    } catch (error) {
      const nowMs = options.clock.now().getTime();
      if (nowMs >= quietUntilMs) {
        options.log.error(`looking for ${source.name} failed and will be tried again`, error);
        quietUntilMs = nowMs + repeatAfterMs;
      }
    }
    await options.clock.sleep(source.sweepEveryMs, stopped);
  }
}
