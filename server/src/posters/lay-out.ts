import type { Box, PathShape, TextLine } from './shapes.ts';
import { block, type Block, type Outlines, type Typesetter } from './typesetter.ts';

/** A text with its area on the page, set as large as the area allows. */
export interface LayoutItem {
  area: Box;
  sizeMax: number;
  make(size: number): Block;
  /** Centred in its area by default. */
  verticalAlign?: 'top';
}

interface SizedItem extends LayoutItem {
  size: number;
}

export interface Layout {
  shapes: PathShape[];
  /** The text of each item, line by line, in the order of the items. */
  readTexts(): Promise<TextLine[][]>;
}

/**
 * The outlines of all items, each at the largest size that fits the height of its area. Most pages are laid out once; only if an
 * item is too high, its size is searched for and the page is laid out again.
 */
export async function layOut(
  typesetter: Typesetter,
  items: readonly LayoutItem[],
  page: { width: number; height: number },
): Promise<Layout> {
  const layoutOf = ({ shapes, boxes }: Outlines, blocks: readonly Block[]): Layout => ({
    shapes,
    readTexts: async () => {
      const lines = await typesetter.textLines(blocks, page);
      return items.map((_item, index) => linesWithin(boxes.get(keyOf(index)), lines));
    },
  });
  const largest = items.map((item) => ({ ...item, size: item.sizeMax }));
  const largestBlocks = largest.map(positioned);
  const outlines = await typesetter.outlines(largestBlocks, page);
  const fits = ({ area }: LayoutItem, index: number) =>
    (outlines.boxes.get(keyOf(index))?.height ?? Infinity) <= area.height;
  if (largest.every(fits)) return layoutOf(outlines, largestBlocks);
  const fitted: SizedItem[] = [];
  for (const [index, item] of largest.entries()) {
    fitted.push(fits(item, index) ? item : { ...item, size: await largestFitting(typesetter, item) });
  }
  const fittedBlocks = fitted.map(positioned);
  return layoutOf(await typesetter.outlines(fittedBlocks, page), fittedBlocks);
}

function linesWithin(box: Box | undefined, lines: readonly TextLine[]): TextLine[] {
  return lines.filter(({ baseline }) => box && baseline >= box.y && baseline <= box.y + box.height);
}

/**
 * The largest size below `sizeMax` at which the item fits, by binary search. Never fails: a text may become small, but is never
 * cut off.
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
  // Without shrinking, so that an item that is too high is measured as such.
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
  return `item ${index}`;
}
