import { composePoster } from './compose.ts';
import type { Poster } from './poster.ts';
import { pageSizes } from './sizes.ts';
import { createTypesetter } from './typesetter.ts';
import { writePdf } from './write-pdf.ts';
import { createPngWriter } from './write-png.ts';
import { writeSvg } from './write-svg.ts';

/** Draws posters, one after the other. Everything is processor time, so it has a thread of its own. */
export async function createPosterDrawer(): Promise<(poster: Poster) => Promise<Uint8Array>> {
  const typesetter = createTypesetter();
  const writePng = await createPngWriter();
  return async (poster) => {
    const scene = await composePoster(typesetter, poster);
    if (poster.format === 'pdf') {
      return writePdf(scene, pageSizes[poster.size], { title: `Poster ${poster.code}`, link: poster.qrCodeUrl });
    }
    const svg = writeSvg(scene);
    return poster.format === 'svg' ? Buffer.from(svg) : writePng(svg);
  };
}
