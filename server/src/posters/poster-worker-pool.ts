import { AppError } from '../kit/app-error.ts';
import type { Clock } from '../kit/clock.ts';
import { startPosterThread } from './poster-thread.ts';
import type { PosterThread } from './poster-thread.ts';
import type { Poster } from './poster.ts';

/** Keeps a thread while there is something to draw: started with the first poster, replaced when it fails. */
export interface PosterWorkerPool {
  /** One at a time. Throws AppError `unavailable` where it takes too long or the thread ends. */
  draw(poster: Poster): Promise<Uint8Array>;
  close(): Promise<void>;
}

export interface PosterWorkerPoolOptions {
  clock: Clock;
  /** The thread's program; tests hand in others. */
  entry?: URL;
}

// Many times what a slow machine takes.
const timeoutMs = 20_000;
// The thread holds some 150 MB; after the last poster of a batch they are given back.
const idleMs = 60_000;

const workerEntry = new URL('./poster-worker.ts', import.meta.url);

export function createPosterWorkerPool({ clock, entry = workerEntry }: PosterWorkerPoolOptions): PosterWorkerPool {
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
    draw: async (poster) => {
      if (closing.signal.aborted) throw busy('The service is about to end.');
      idle.abort();
      const drawing = thread?.hasEnded() === false ? thread : startPosterThread(entry);
      thread = drawing;
      const done = new AbortController();
      try {
        return await Promise.race([drawing.draw(poster), timeOut(done.signal)]);
      } catch (error) {
        // A thread that is still busy with it would keep the next one waiting.
        if (error instanceof AppError) await end(drawing);
        else if (drawing.hasEnded()) throw busy('The poster could not be drawn.', error);
        throw error;
      } finally {
        done.abort();
        idle = new AbortController();
        void endWhenIdle(drawing, idle.signal);
      }
    },
    close: async () => {
      closing.abort();
      idle.abort();
      if (thread) await end(thread);
    },
  };
}

/** What cannot be drawn just now. */
export function busy(what: string, cause?: unknown): AppError {
  const internal = cause instanceof Error ? { internal: cause.message, cause } : {};
  return new AppError('unavailable', `${what} Try again in a few seconds.`, { retryAfterSeconds: 5, ...internal });
}
