import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { initWasm, Resvg } from '@resvg/resvg-wasm';
import { composePoster } from './compose.ts';
import type { Poster } from './poster.ts';
import type { Drawing, Shape } from './shapes.ts';
import { pageSizes } from './sizes.ts';
import { createTypesetter } from './typesetter.ts';

/** Draws one poster at a time. CPU-bound, so it runs in a worker thread. */
export function createPosterDrawer(): (poster: Poster) => Promise<Uint8Array> {
  const typesetter = createTypesetter();
  // Compiles while the first poster is laid out.
  const pngWriter = createPngWriter();
  return async (poster) => {
    const drawing = await composePoster(typesetter, poster);
    if (poster.format === 'pdf') {
      // Loaded on demand: most posters are PNGs, and the first one must not wait for the fonts and tables of PDFs.
      const { writePdf } = await import('./write-pdf.ts');
      return writePdf(drawing, pageSizes[poster.size], {
        title: `Poster ${poster.code}`,
        language: poster.language,
        link: poster.qrCodeUrl,
      });
    }
    const svg = writeSvg(drawing);
    return poster.format === 'svg' ? Buffer.from(svg) : (await pngWriter)(svg);
  };
}

/** Contains no text of a merchant: names are outlines, and a logo is pixels. */
function writeSvg({ width, height, shapes }: Drawing): string {
  const head = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`;
  return `${head}${shapes.map(element).join('')}</svg>\n`;
}

function element(shape: Shape): string {
  if (shape.kind === 'path') return `<path fill="${shape.fill}" d="${shape.path}"/>`;
  const { x, y, width, height } = shape.area;
  const data = Buffer.from(shape.png).toString('base64');
  return `<image x="${x}" y="${y}" width="${width}" height="${height}" href="data:image/png;base64,${data}"/>`;
}

type PngWriter = (svg: string) => Uint8Array;

/** Loads the renderer, which a thread can do only once. */
async function createPngWriter(): Promise<PngWriter> {
  await initWasm(await readFile(createRequire(import.meta.url).resolve('@resvg/resvg-wasm/index_bg.wasm')));
  return (svg) => {
    // The renderer never frees memory by itself: 13 MB a poster.
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
