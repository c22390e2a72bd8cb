import { Worker } from 'node:worker_threads';
import type { Poster } from './poster.ts';
import type { DrawResult } from './poster-worker.ts';

/** A thread that draws one poster at a time. */
export interface PosterThread {
  /** Throws when the poster could not be drawn; a thread that ended has said so to every drawing since. */
  draw(poster: Poster): Promise<Uint8Array>;
  hasEnded(): boolean;
  end(): Promise<void>;
}

// The layout needs some 40 MB; what needs much more is wrong and ends with the thread, not with the service.
const resourceLimits = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 16 };

export function startPosterThread(entry: URL): PosterThread {
  // Nothing of the service's settings and secrets is of use to it.
  const worker = new Worker(entry, { env: {}, execArgv: [], resourceLimits });
  // A process that is told to end does not wait for a thread that has nothing to do.
  worker.unref();
  const ended = new AbortController();
  let waiting: PromiseWithResolvers<Uint8Array> | null = null;
  const endedWith = (reason: unknown) => {
    ended.abort(reason);
    waiting?.reject(toError(reason));
  };
  worker.on('error', endedWith);
  worker.on('exit', () => endedWith(new Error('the thread that draws posters has ended')));
  worker.on('message', (drawn: DrawResult) => {
    if ('bytes' in drawn) waiting?.resolve(drawn.bytes);
    else waiting?.reject(new Error(drawn.failure));
  });
  return {
    draw: async (poster) => {
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
