import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import satori from 'satori';
import { readGlyphCoverage } from './glyph-coverage.ts';
import type { PathShape } from './scene.ts';
import { printableText } from './printable-text.ts';

// Lays text out and turns it into outlines, by satori with Noto Sans. Two weights: each costs start-up time.
const weights = [500, 800] as const;
// The second half has Ŋ and ŋ, without which Mandinka and Wolof cannot be written.
const subsets = ['latin', 'latin-ext'] as const;

// What one subset lacks comes from the next.
const fontFamily = subsets.map((subset) => `Noto Sans ${subset}`).join(', ');

export type Weight = (typeof weights)[number];

/** The part of CSS that the posters use; satori lays it out as a browser would. */
export type Style = Readonly<Record<string, string | number>>;

export interface Block {
  type: 'div';
  /** By which its height is told. */
  key?: string;
  props: { style: Style; children: readonly Block[] | string };
}

export function block(style: Style, children: readonly Block[] | string): Block {
  return { type: 'div', props: { style: { display: 'flex', ...style }, children } };
}

export interface Typesetter {
  /** What of a text can be printed; may be nothing. */
  printable(text: string): string;
  /** How high the block becomes when it is this wide. */
  heightOf(block: Block, width: number): Promise<number>;
  /** The outlines of blocks on a page, and how high those with a key became. */
  outlines(blocks: readonly Block[], page: { width: number; height: number }): Promise<Outlines>;
}

export interface Outlines {
  shapes: PathShape[];
  heights: ReadonlyMap<string, number>;
}

export function createTypesetter(): Typesetter {
  const { resolve } = createRequire(import.meta.url);
  const fonts = subsets.flatMap((subset) =>
    weights.map((weight) => ({
      // Two files of one name and weight would hide each other.
      name: `Noto Sans ${subset}`,
      data: readFileSync(resolve(`@fontsource/noto-sans/files/noto-sans-${subset}-${weight}-normal.woff`)),
      weight,
      style: 'normal' as const,
    })),
  );
  const covered = fonts.map(({ weight, data }) => ({ weight, codePoints: readGlyphCoverage(data) }));
  const canDraw = (codePoint: number): boolean =>
    weights.every((weight) => covered.some((font) => font.weight === weight && font.codePoints.has(codePoint)));
  const options = { fonts, embedFont: true } as const;
  return {
    printable: (text) => printableText(text, canDraw),
    heightOf: async (root, width) => {
      const svg = await satori(block({ width: '100%', fontFamily }, [root]), { ...options, width });
      return Number(/^<svg width="[\d.]+" height="([\d.]+)"/.exec(svg)?.[1] ?? Number.NaN);
    },
    outlines: async (blocks, { width, height }) => {
      const root = block({ width: '100%', height: '100%', position: 'relative', fontFamily }, blocks);
      const heights = new Map<string, number>();
      const onNodeDetected = (node: { key?: string | number; height: number }) => {
        if (typeof node.key === 'string') heights.set(node.key, node.height);
      };
      const svg = await satori(root, { ...options, width, height, onNodeDetected });
      return { shapes: readOutlines(svg), heights };
    },
  };
}

const elements = /<(\/?[a-z]\w*)([^>]*)>/g;

/** The paths of what satori wrote. Masks are only definitions, and nothing here refers to them. */
function readOutlines(svg: string): PathShape[] {
  const shapes: PathShape[] = [];
  let isInMask = false;
  for (const [element, name, attributes = ''] of svg.matchAll(elements)) {
    if (name === 'mask' || name === '/mask') isInMask = name === 'mask';
    else if (name === 'path') shapes.push(readPath(attributes));
    else if (!isInMask && !['svg', '/svg', 'g', '/g'].includes(name ?? '')) {
      throw new Error(`the layout wrote an element that posters do not know: ${element.slice(0, 100)}`);
    }
  }
  return shapes;
}

function readPath(attributes: string): PathShape {
  const found = Object.fromEntries(
    [...attributes.matchAll(/ ?([\w-]+)="([^"]*)"/g)].map(([, name, value]) => [name ?? '', value ?? '']),
  );
  const { d: path, fill } = found;
  if (path === undefined || fill === undefined || 'transform' in found || 'mask' in found || 'clip-path' in found) {
    throw new Error(`the layout wrote a path that posters do not know: ${attributes.slice(0, 100)}`);
  }
  return { kind: 'path', path, fill };
}
