export const posterSizes = ['poster', 'a4', 'a5', 'a6', 'sticker'] as const;

export type PosterSize = (typeof posterSizes)[number];

export interface PageSize {
  arrangement: 'portrait' | 'square';
  /** Of the PNG, and the units in which the page is laid out. */
  widthPixels: number;
  heightPixels: number;
  /** Of the PDF's page. */
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

// The A sizes share one shape and so one picture: 200 dots an inch on A4, 400 on A6.
const a: [number, number] = [1654, 2340];

export const pageSizes: Record<PosterSize, PageSize> = {
  poster: page([1440, 2340], [200, 325]),
  a4: page(a, [210, 297]),
  a5: page(a, [148, 210]),
  a6: page(a, [105, 148]),
  sticker: page([1440, 1440], [100, 100]),
};
