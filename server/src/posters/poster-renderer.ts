import { createHash } from 'node:crypto';
import { limitEachKey } from '../kit/keyed-limiter.ts';
import { busy, createPosterWorkerPool, type PosterWorkerPoolOptions } from './poster-worker-pool.ts';
import type { Poster } from './poster.ts';

export type PosterRenderer = ReturnType<typeof createPosterRenderer>;

// At 0.3 s each, the last poster in a full queue waits ten seconds.
const waitingMax = 32;
// Per merchant: the rest of a batch waits outside the queue, so that other merchants' posters get in.
const perMerchantMax = 4;
const merchantQueueFull = 'Too many of your posters are being drawn. Try again in a few seconds.';
const cacheBytesMax = 16 * 1_024 * 1_024;

/** Draws posters in a worker thread, behind a queue and a cache. */
export function createPosterRenderer(options: PosterWorkerPoolOptions) {
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
    /** Throws AppError `unavailable` while too many posters wait, and on a timeout. */
    render: async (merchantId: string, poster: Poster): Promise<Uint8Array> => {
      const key = keyOf(poster);
      return cache.get(key) ?? limiter.run(merchantId, () => draw(key, poster));
    },
    close: async () => {
      await pool.close();
      await last;
    },
  };
}

/** Equal posters have equal keys, even those of different merchants. */
function keyOf({ logo, ...rest }: Poster): string {
  return createHash('sha256')
    .update(JSON.stringify(rest))
    .update(logo ?? '')
    .digest('base64');
}

/** A least-recently-used cache, limited by bytes. */
export class ByteCache {
  readonly #bytesMax: number;
  readonly #entries = new Map<string, Uint8Array>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get(key: string): Uint8Array | undefined {
    const found = this.#entries.get(key);
    if (found === undefined) return undefined;
    // A Map iterates in insertion order, so the first entry is the least recently used.
    this.#entries.delete(key);
    this.#entries.set(key, found);
    return found;
  }

  set(key: string, value: Uint8Array): void {
    this.#remove(key);
    if (value.byteLength > this.#bytesMax) return;
    this.#entries.set(key, value);
    this.#bytes += value.byteLength;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    this.#bytes -= this.#entries.get(key)?.byteLength ?? 0;
    this.#entries.delete(key);
  }
}
