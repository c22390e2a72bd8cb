import type { Box, PathShape } from './scene.ts';
import { block } from './typesetter.ts';
import type { Block, Typesetter } from './typesetter.ts';

/** Something with a place on the page, written as large as the place allows. */
export interface LayoutItem {
  area: Box;
  sizeMax: number;
  make(size: number): Block;
  /** In the middle of its place unless it stands at the top. */
  verticalAlign?: 'top';
}

interface SizedItem extends LayoutItem {
  size: number;
}

/**
 * The outlines of all pieces, each at the largest size at which it is no higher than its place. Most are written once:
 * only where something turns out too high, its size is sought and the page is written again.
 */
export async function layOut(
  typesetter: Typesetter,
  items: readonly LayoutItem[],
  page: { width: number; height: number },
): Promise<PathShape[]> {
  const largest = items.map((item) => ({ ...item, size: item.sizeMax }));
  const { shapes, heights } = await typesetter.outlines(largest.map(positioned), page);
  const fits = ({ area }: LayoutItem, index: number) => (heights.get(keyOf(index)) ?? Infinity) <= area.height;
  if (largest.every(fits)) return shapes;
  const fitted: SizedItem[] = [];
  for (const [index, item] of largest.entries()) {
    fitted.push(fits(item, index) ? item : { ...item, size: await largestFitting(typesetter, item) });
  }
  return (await typesetter.outlines(fitted.map(positioned), page)).shapes;
}

/**
 * The largest size below the greatest at which the piece is no higher than its place, by halving. There is always one: a
 * text may become small, never cut off.
 */
async function largestFitting(typesetter: Typesetter, { area, sizeMax, make }: LayoutItem): Promise<number> {
  let [fitting, above] = [1, Math.floor(sizeMax)];
  while (above - fitting > 1) {
    const middle = Math.floor((fitting + above) / 2);
    if ((await typesetter.heightOf(make(middle), area.width)) <= area.height) fitting = middle;
    else above = middle;
  }
  return fitting;
}

function positioned({ area, size, make, verticalAlign }: SizedItem, index: number): Block {
  // What is too high must not be pressed together, else nobody would see that it is.
  const content = block({ width: '100%', flexShrink: 0 }, [make(size)]);
  const style = {
    position: 'absolute',
    left: area.x,
    top: area.y,
    width: area.width,
    height: area.height,
    flexDirection: 'column',
    justifyContent: verticalAlign === 'top' ? 'flex-start' : 'center',
  };
  return block(style, [{ ...content, key: keyOf(index) }]);
}

function keyOf(index: number): string {
  return `piece ${index}`;
}
