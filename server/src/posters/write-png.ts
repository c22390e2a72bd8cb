import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { initWasm, Resvg } from '@resvg/resvg-wasm';

export type PngWriter = (svg: string) => Uint8Array;

/** Loads the renderer, which may happen once in a thread. */
export async function createPngWriter(): Promise<PngWriter> {
  await initWasm(await readFile(createRequire(import.meta.url).resolve('@resvg/resvg-wasm/index_bg.wasm')));
  return (svg) => {
    // What is not freed stays in the renderer's memory for good: 13 MB a poster.
    const renderer = new Resvg(svg, { font: { loadSystemFonts: false } });
    try {
      const image = renderer.render();
      try {
        return image.asPng();
      } finally {
        image.free();
      }
    } finally {
      renderer.free();
    }
  };
}
