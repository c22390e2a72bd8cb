import { createHash } from 'node:crypto';
import { limitEachKey } from '../kit/keyed-limiter.ts';
import type { LimiterFigures } from '../kit/keyed-limiter.ts';
import { ByteCache } from './byte-cache.ts';
import { busy, createPosterWorkerPool } from './poster-worker-pool.ts';
import type { PosterWorkerPoolOptions } from './poster-worker-pool.ts';
import type { Poster } from './poster.ts';

/** Draws posters beside everything else: the thread that answers requests only waits. */
export interface PosterRenderer {
  /** Throws AppError `unavailable` while too many wait, and for one that cannot be drawn in time. */
  render(merchantId: string, poster: Poster): Promise<Uint8Array>;
  readonly limiter: LimiterFigures;
  close(): Promise<void>;
}

// At 0.3 s each, whoever is last in the queue waits for ten seconds.
const waitingMax = 32;
// Of one merchant: the rest of a batch waits beside the queue, in which others stand then.
const perMerchantMax = 4;
const merchantQueueFull = 'Too many of your posters are being drawn. Try again in a few seconds.';
const cacheBytesMax = 16 * 1_024 * 1_024;

export function createPosterRenderer(options: PosterWorkerPoolOptions): PosterRenderer {
  const pool = createPosterWorkerPool(options);
  const cache = new ByteCache(cacheBytesMax);
  const inFlight = new Map<string, Promise<Uint8Array>>();
  const limiter = limitEachKey({
    name: 'posters',
    each: perMerchantMax,
    waitingMax: waitingMax - perMerchantMax,
    refusal: { code: 'unavailable', message: merchantQueueFull },
  });
  let last: Promise<unknown> = Promise.resolve();

  async function drawAfter(before: Promise<unknown>, key: string, poster: Poster): Promise<Uint8Array> {
    await before;
    try {
      const bytes = await pool.draw(poster);
      cache.set(key, bytes);
      return bytes;
    } finally {
      inFlight.delete(key);
    }
  }

  async function draw(key: string, poster: Poster): Promise<Uint8Array> {
    const known = cache.get(key) ?? inFlight.get(key);
    if (known) return known;
    if (inFlight.size >= waitingMax) throw busy('Too many posters are being drawn.');
    const rendering = drawAfter(last, key, poster);
    inFlight.set(key, rendering);
    last = rendering.catch(() => {});
    return rendering;
  }

  return {
    limiter,
    render: async (merchantId, poster) => {
      const key = keyOf(poster);
      return cache.get(key) ?? limiter.run(merchantId, () => draw(key, poster));
    },
    close: async () => {
      await pool.close();
      await last;
    },
  };
}

/** Equal posters have equal keys, whoever asks for them. */
function keyOf({ logo, ...rest }: Poster): string {
  return createHash('sha256')
    .update(JSON.stringify(rest))
    .update(logo ?? '')
    .digest('base64');
}
