import satori from 'satori';
import { readGlyphCoverage } from './glyph-coverage.ts';
import { parseFontText } from './font-text.ts';
import { readFont } from './read-font.ts';
import type { Box, PathShape, TextLine } from './shapes.ts';

// Two weights only: each one adds to the start-up time.
const weights = [500, 800] as const;
// The second half has Ŋ and ŋ, without which Mandinka and Wolof cannot be written.
const subsets = ['latin', 'latin-ext'] as const;

// A glyph that one subset lacks comes from the next.
const fontFamily = subsets.map((subset) => `Noto Sans ${subset}`).join(', ');

export type Weight = (typeof weights)[number];

/** CSS, as far as satori supports it. */
export type Style = Readonly<Record<string, string | number>>;

export interface Block {
  type: 'div';
  /** The key of its box in `Outlines.boxes`. */
  key?: string;
  props: { style: Style; children: readonly Block[] | string };
}

export function block(style: Style, children: readonly Block[] | string): Block {
  return { type: 'div', props: { style: { display: 'flex', ...style }, children } };
}

/** The key of a block whose text only decorates and is not read out, such as the letter on a network's mark. */
export const ornamentKey = 'ornament';

/** Lays out text and converts it to outlines, by satori with Noto Sans. */
export interface Typesetter {
  /** The printable part of a text; may be empty. */
  printable(text: string): string;
  /** The height of the block at this width. */
  heightOf(block: Block, width: number): Promise<number>;
  /** The outlines of blocks on a page, and the boxes of blocks with a key. */
  outlines(blocks: readonly Block[], page: PageDimensions): Promise<Outlines>;
  /** The lines of text that the same layout has, in reading order and without ornaments. */
  textLines(blocks: readonly Block[], page: PageDimensions): Promise<TextLine[]>;
}

interface PageDimensions {
  width: number;
  height: number;
}

export interface Outlines {
  shapes: PathShape[];
  boxes: ReadonlyMap<string, Box>;
}

export function createTypesetter(): Typesetter {
  const fonts = subsets.flatMap((subset) =>
    weights.map((weight) => ({
      // Two fonts of the same name and weight would hide each other.
      name: `Noto Sans ${subset}`,
      data: readFont(subset, weight),
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
      const boxes = new Map<string, Box>();
      const onNodeDetected = (node: DetectedNode) => {
        if (typeof node.key === 'string') boxes.set(node.key, boxOf(node));
      };
      const svg = await satori(pageOf(blocks), { ...options, width, height, onNodeDetected });
      return { shapes: readOutlines(svg), boxes };
    },
    textLines: async (blocks, { width, height }) => {
      const ornaments: Box[] = [];
      const onNodeDetected = (node: DetectedNode) => {
        if (node.key === ornamentKey) ornaments.push(boxOf(node));
      };
      const svg = await satori(pageOf(blocks), { ...options, embedFont: false, width, height, onNodeDetected });
      return parseFontText(svg, ornaments);
    },
  };
}

interface DetectedNode {
  key?: string | number;
  left: number;
  top: number;
  width: number;
  height: number;
}

function boxOf({ left, top, width, height }: DetectedNode): Box {
  return { x: left, y: top, width, height };
}

function pageOf(blocks: readonly Block[]): Block {
  return block({ width: '100%', height: '100%', position: 'relative', fontFamily }, blocks);
}

const elements = /<(\/?[a-z]\w*)([^>]*)>/g;

/** The paths in satori's SVG. Masks are unused definitions. */
function readOutlines(svg: string): PathShape[] {
  const shapes: PathShape[] = [];
  let isInMask = false;
  for (const [element, name, attributes = ''] of svg.matchAll(elements)) {
    if (name === 'mask' || name === '/mask') isInMask = name === 'mask';
    else if (name === 'path') shapes.push(readPath(attributes));
    else if (!isInMask && !['svg', '/svg', 'g', '/g'].includes(name ?? '')) {
      throw new Error(`unexpected element in the layout's SVG: ${element.slice(0, 100)}`);
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
    throw new Error(`unexpected path in the layout's SVG: ${attributes.slice(0, 100)}`);
  }
  return { kind: 'path', path, fill };
}

/** Whether the fonts have a glyph for the code point. */
type CanDraw = (codePoint: number) => boolean;

/**
 * The printable part of a text, which may be empty. Drops control characters, direction marks and other characters without a
 * shape, and characters that the fonts lack (emoji, Arabic), which would print as empty boxes. Composes accents (NFC), replaces
 * wide or stylised letters by plain ones (NFKC), and collapses white space.
 */
function printableText(text: string, canDraw: CanDraw): string {
  const written = Array.from(text.normalize('NFC').replaceAll(/\s+/gu, ' '), (character) =>
    canDrawCharacter(character, canDraw) ? character : compatibleSpelling(character, canDraw),
  );
  return written.join('').replaceAll(/ +/g, ' ').trim();
}

function compatibleSpelling(character: string, canDraw: CanDraw): string {
  const plain = Array.from(character.normalize('NFKC'));
  return plain.every((part) => canDrawCharacter(part, canDraw)) ? plain.join('') : '';
}

const shapeless = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]/u;

function canDrawCharacter(character: string, canDraw: CanDraw): boolean {
  return !shapeless.test(character) && canDraw(character.codePointAt(0) ?? 0);
}
