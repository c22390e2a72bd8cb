import { Worker } from 'node:worker_threads';
import { AppError } from '../api/app-error.ts';
import type { Clock } from '../kit/clock.ts';
import type { DrawResult } from './poster-worker.ts';
import type { Poster } from './poster.ts';

export interface PosterWorkerPoolOptions {
  clock: Clock;
  /** The thread's entry file; tests pass others. */
  entry?: URL;
}

type PosterThread = ReturnType<typeof startPosterThread>;

// Many times the duration on a slow machine.
const timeoutMs = 20_000;
// The thread holds some 150 MB, which are released after the last poster of a batch.
const idleMs = 60_000;

const workerEntry = new URL('./poster-worker.ts', import.meta.url);

/** One worker thread, started with the first poster, replaced when it fails, and ended when idle. */
export function createPosterWorkerPool({ clock, entry = workerEntry }: PosterWorkerPoolOptions) {
  const closing = new AbortController();
  let thread: PosterThread | null = null;
  let idle = new AbortController();

  async function end(ending: PosterThread): Promise<void> {
    if (thread === ending) thread = null;
    await ending.end();
  }

  async function timeOut(done: AbortSignal): Promise<never> {
    await clock.sleep(timeoutMs, done);
    throw busy('The poster took too long.');
  }

  async function endWhenIdle(drawing: PosterThread, signal: AbortSignal): Promise<void> {
    await clock.sleep(idleMs, signal);
    if (!signal.aborted) await end(drawing);
  }

  return {
    /** One poster at a time. Throws AppError `unavailable` on a timeout or when the thread ends. */
    draw: async (poster: Poster): Promise<Uint8Array> => {
      if (closing.signal.aborted) throw busy('The service is shutting down.');
      idle.abort();
      const drawing = thread?.hasEnded() === false ? thread : startPosterThread(entry);
      thread = drawing;
      const done = new AbortController();
      try {
        return await Promise.race([drawing.draw(poster), timeOut(done.signal)]);
      } catch (error) {
        // A thread that is still drawing would block the next poster.
        if (error instanceof AppError) await end(drawing);
        else if (drawing.hasEnded()) throw busy('The poster could not be drawn.', error);
        throw error;
      } finally {
        done.abort();
        idle = new AbortController();
        void endWhenIdle(drawing, idle.signal);
      }
    },
    close: async (): Promise<void> => {
      closing.abort();
      idle.abort();
      if (thread) await end(thread);
    },
  };
}

/** The refusal of a poster that cannot be drawn now. */
export function busy(what: string, cause?: unknown): AppError {
  const internal = cause instanceof Error ? { internal: cause.message, cause } : {};
  return new AppError('unavailable', `${what} Try again in a few seconds.`, { retryAfterSeconds: 5, ...internal });
}

// The layout needs some 40 MB. A fault that needs much more ends the thread, not the service.
const resourceLimits = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 16 };

/** A thread that draws one poster at a time. */
function startPosterThread(entry: URL) {
  // The thread gets none of the service's settings and secrets.
  const worker = new Worker(entry, { env: {}, execArgv: [], resourceLimits });
  // An idle thread does not keep the process alive.
  worker.unref();
  const ended = new AbortController();
  let waiting: PromiseWithResolvers<Uint8Array> | null = null;
  const endedWith = (reason: unknown) => {
    ended.abort(reason);
    waiting?.reject(toError(reason));
  };
  worker.on('error', endedWith);
  worker.on('exit', () => endedWith(new Error('the poster thread has ended')));
  worker.on('message', (drawn: DrawResult) => {
    if ('bytes' in drawn) waiting?.resolve(drawn.bytes);
    else waiting?.reject(new Error(drawn.failure));
  });
  return {
    /** Throws if the poster cannot be drawn or the thread has ended. */
    draw: async (poster: Poster): Promise<Uint8Array> => {
      if (ended.signal.aborted) throw toError(ended.signal.reason);
      waiting = Promise.withResolvers();
      worker.ref();
      try {
        worker.postMessage(poster, []);
        return await waiting.promise;
      } finally {
        worker.unref();
        waiting = null;
      }
    },
    hasEnded: () => ended.signal.aborted,
    end: async () => {
      await worker.terminate();
    },
  };
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
