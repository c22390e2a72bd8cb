import { parentPort } from 'node:worker_threads';
import { createPosterDrawer } from './draw-poster.ts';
import type { Poster } from './poster.ts';

// The thread that draws: a poster comes in, its bytes go out. What goes wrong is told, and the next one is drawn.

/** What the thread answers. */
export type DrawResult = { bytes: Uint8Array<ArrayBuffer> } | { failure: string };

const draw = createPosterDrawer();

parentPort?.on('message', (poster: Poster) => void respond(poster));

async function respond(poster: Poster): Promise<void> {
  try {
    // A copy of its own, which is handed over: the renderer's memory and pools of buffers cannot be.
    const bytes = new Uint8Array(await draw(poster));
    parentPort?.postMessage({ bytes } satisfies DrawResult, [bytes.buffer]);
  } catch (error) {
    const failure = error instanceof Error ? (error.stack ?? error.message) : String(error);
    parentPort?.postMessage({ failure } satisfies DrawResult, []);
  }
}
