import type { Box, TextLine } from './shapes.ts';

const textElements = /<text ([^>]*)>([^<]*)<\/text>/g;

/**
 * The lines in an SVG that satori wrote with font text, where every word is an element. Words that touch on one baseline are one
 * line, so that a name can be searched for and selected as a whole.
 */
export function parseFontText(svg: string, ornaments: readonly Box[]): TextLine[] {
  const lines: TextLine[] = [];
  for (const [, attributes = '', content = ''] of svg.matchAll(textElements)) {
    const word = { ...parseWord(attributes), text: unescapeXml(content) };
    if (ornaments.some((box) => contains(box, word))) continue;
    const last = lines.at(-1);
    if (last && continues(last, word)) {
      last.text += word.text;
      last.width = word.x + word.width - last.x;
    } else {
      lines.push(word);
    }
  }
  return lines;
}

function parseWord(attributes: string): Omit<TextLine, 'text'> {
  const numberOf = (name: string): number => {
    const value = Number(new RegExp(`(?:^| )${name}="([-\\d.e]+)"`).exec(attributes)?.[1]);
    if (Number.isNaN(value)) throw new Error(`a text of the layout has no ${name}: ${attributes.slice(0, 100)}`);
    return value;
  };
  return { x: numberOf('x'), baseline: numberOf('y'), width: numberOf('width'), size: numberOf('font-size') };
}

// Positions are sums of advance widths, so words that touch differ by rounding only.
const touchingMax = 0.01;

function continues(line: TextLine, word: TextLine): boolean {
  const isSameRow = line.baseline === word.baseline && line.size === word.size;
  return isSameRow && Math.abs(line.x + line.width - word.x) < touchingMax;
}

function contains({ x, y, width, height }: Box, word: TextLine): boolean {
  return word.x >= x && word.x <= x + width && word.baseline >= y && word.baseline <= y + height;
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", '#39': "'" };

function unescapeXml(text: string): string {
  return text.replaceAll(/&(#?\w+);/g, (entity, name: string) => entities[name] ?? entity);
}
