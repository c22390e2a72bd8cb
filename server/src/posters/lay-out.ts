import type { Box, PathShape } from './scene.ts';
import { block } from './typesetter.ts';
import type { Block, Typesetter } from './typesetter.ts';

/** Something with a place on the page, written as large as the place allows. */
export interface Piece {
  place: Box;
  sizeMax: number;
  make(size: number): Block;
  /** In the middle of its place unless it stands at the top. */
  stands?: 'top';
}

interface SizedPiece extends Piece {
  size: number;
}

/**
 * The outlines of all pieces, each at the largest size at which it is no higher than its place. Most are written once:
 * only where something turns out too high, its size is sought and the page is written again.
 */
export async function layOut(
  typesetter: Typesetter,
  pieces: readonly Piece[],
  page: { width: number; height: number },
): Promise<PathShape[]> {
  const largest = pieces.map((piece) => ({ ...piece, size: piece.sizeMax }));
  const { shapes, heights } = await typesetter.outlines(largest.map(placed), page);
  const fits = ({ place }: Piece, index: number) => (heights.get(keyOf(index)) ?? Infinity) <= place.height;
  if (largest.every(fits)) return shapes;
  const fitted: SizedPiece[] = [];
  for (const [index, piece] of largest.entries()) {
    fitted.push(fits(piece, index) ? piece : { ...piece, size: await largestFitting(typesetter, piece) });
  }
  return (await typesetter.outlines(fitted.map(placed), page)).shapes;
}

/**
 * The largest size below the greatest at which the piece is no higher than its place, by halving. There is always one: a
 * text may become small, never cut off.
 */
async function largestFitting(typesetter: Typesetter, { place, sizeMax, make }: Piece): Promise<number> {
  let [fitting, above] = [1, Math.floor(sizeMax)];
  while (above - fitting > 1) {
    const middle = Math.floor((fitting + above) / 2);
    if ((await typesetter.heightOf(make(middle), place.width)) <= place.height) fitting = middle;
    else above = middle;
  }
  return fitting;
}

function placed({ place, size, make, stands }: SizedPiece, index: number): Block {
  // What is too high must not be pressed together, else nobody would see that it is.
  const content = block({ width: '100%', flexShrink: 0 }, [make(size)]);
  const style = {
    position: 'absolute',
    left: place.x,
    top: place.y,
    width: place.width,
    height: place.height,
    flexDirection: 'column',
    justifyContent: stands === 'top' ? 'flex-start' : 'center',
  };
  return block(style, [{ ...content, key: keyOf(index) }]);
}

function keyOf(index: number): string {
  return `piece ${index}`;
}
