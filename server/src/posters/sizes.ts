export const posterSizes = ['poster', 'a4', 'a5', 'a6', 'sticker'] as const;

export type PosterSize = (typeof posterSizes)[number];

export interface PageSize {
  arrangement: 'portrait' | 'square';
  /** The size of the PNG, and the units of the layout. */
  widthPixels: number;
  heightPixels: number;
  /** The size of the PDF page. */
  widthPoints: number;
  heightPoints: number;
}

const pointsPerMillimetre = 72 / 25.4;

function page(pixels: [number, number], millimetres: [number, number]): PageSize {
  const [widthPixels, heightPixels] = pixels;
  const [widthPoints, heightPoints] = millimetres.map((length) => length * pointsPerMillimetre);
  const arrangement = widthPixels === heightPixels ? 'square' : 'portrait';
  return { arrangement, widthPixels, heightPixels, widthPoints: widthPoints ?? 0, heightPoints: heightPoints ?? 0 };
}

// All A sizes share one aspect ratio and so one picture: 200 dpi on A4, 400 dpi on A6.
const a: [number, number] = [1654, 2340];

export const pageSizes: Record<PosterSize, PageSize> = {
  poster: page([1440, 2340], [200, 325]),
  a4: page(a, [210, 297]),
  a5: page(a, [148, 210]),
  a6: page(a, [105, 148]),
  sticker: page([1440, 1440], [100, 100]),
};
