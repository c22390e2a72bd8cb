import { composePoster } from './compose.ts';
import type { Poster } from './poster.ts';
import { pageSizes } from './sizes.ts';
import { createTypesetter } from './typesetter.ts';
import { createPngWriter } from './write-png.ts';
import { writeSvg } from './write-svg.ts';

/** Draws posters, one after the other. Everything is processor time, so it has a thread of its own. */
export function createPosterDrawer(): (poster: Poster) => Promise<Uint8Array> {
  const typesetter = createTypesetter();
  // Compiled while the first poster is laid out.
  const pngWriter = createPngWriter();
  return async (poster) => {
    const scene = await composePoster(typesetter, poster);
    if (poster.format === 'pdf') {
      // Its fonts and tables would make every first poster wait, and most are pictures.
      const { writePdf } = await import('./write-pdf.ts');
      return writePdf(scene, pageSizes[poster.size], { title: `Poster ${poster.code}`, link: poster.qrCodeUrl });
    }
    const svg = writeSvg(scene);
    return poster.format === 'svg' ? Buffer.from(svg) : (await pngWriter)(svg);
  };
}
