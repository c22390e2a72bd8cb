import { parentPort } from 'node:worker_threads';
import { createPosterDrawer } from './draw-poster.ts';
import type { Poster } from './poster.ts';

// The entry of the worker thread: receives a poster and responds with its bytes, or with why it could not be drawn.

export type DrawResult = { bytes: Uint8Array<ArrayBuffer> } | { failure: string };

const draw = createPosterDrawer();

parentPort?.on('message', (poster: Poster) => void respond(poster));

async function respond(poster: Poster): Promise<void> {
  try {
    // A copy, because the renderer's memory and pooled buffers cannot be transferred.
    const bytes = new Uint8Array(await draw(poster));
    parentPort?.postMessage({ bytes } satisfies DrawResult, [bytes.buffer]);
  } catch (error) {
    const failure = error instanceof Error ? (error.stack ?? error.message) : String(error);
    parentPort?.postMessage({ failure } satisfies DrawResult, []);
  }
}
