import { colours, networkColour } from './colours.ts';
import type { Poster, PosterNetwork } from './poster.ts';
import { block, ornamentKey, type Block, type Style, type Weight } from './typesetter.ts';

const lineHeight = 1.15;

/** A text over the whole width of its area, broken between words, and inside a word that is wider than the area. */
export function textBlock(
  text: string,
  look: { size: number; weight: Weight; colour: string; align?: 'center' | 'left' },
): Block {
  const { size, weight, colour, align = 'center' } = look;
  const style: Style = {
    width: '100%',
    justifyContent: align === 'center' ? 'center' : 'flex-start',
    textAlign: align,
    fontSize: size,
    fontWeight: weight,
    color: colour,
    lineHeight,
    letterSpacing: `${weight === 800 ? -0.015 : 0}em`,
    wordBreak: 'break-word',
    textWrap: 'balance',
  };
  return block(style, text);
}

/** `Code 471 8205`, the digits large and grouped, easy to read out and to type. */
export function codeBlock({ code, texts }: Poster, size: number, align: 'center' | 'left'): Block {
  const label = block({ fontSize: size * 0.5, fontWeight: 500, color: colours.soft }, texts.code);
  const digits = block(
    { fontSize: size, fontWeight: 800, color: colours['accent-deep'], letterSpacing: '0.03em' },
    `${code.slice(0, 3)} ${code.slice(3)}`,
  );
  const style: Style = {
    alignItems: 'center',
    columnGap: size * 0.35,
    padding: `${size * 0.12}px ${size * 0.55}px`,
    borderRadius: size,
    backgroundColor: colours.tint,
    lineHeight: 1.2,
  };
  const justifyContent = align === 'center' ? 'center' : 'flex-start';
  return block({ width: '100%', justifyContent }, [block(style, [label, digits])]);
}

/** The connected networks: a letter on a colour and the name, as on the pages. */
export function networksBlock({ networks, texts }: Poster, size: number, direction: 'row' | 'column'): Block {
  const label = block({ fontSize: size * 0.8, fontWeight: 500, color: colours.soft }, texts.payWith);
  const isRow = direction === 'row';
  const style: Style = {
    width: '100%',
    flexDirection: direction,
    flexWrap: isRow ? 'wrap' : 'nowrap',
    alignItems: isRow ? 'center' : 'flex-start',
    justifyContent: isRow ? 'center' : 'flex-start',
    columnGap: size * 0.9,
    rowGap: size * 0.45,
    lineHeight,
  };
  return block(style, [label, ...networks.map((network) => networkBlock(network, size))]);
}

function networkBlock({ id, displayName }: PosterNetwork, size: number): Block {
  const mark: Style = {
    width: size * 1.4,
    height: size * 1.4,
    borderRadius: size * 0.36,
    alignItems: 'center',
    justifyContent: 'center',
    flexShrink: 0,
    backgroundColor: networkColour(id),
    color: '#fff',
    fontSize: size * 0.82,
    fontWeight: 800,
  };
  const name: Style = { fontSize: size, fontWeight: 800, color: colours.ink, wordBreak: 'break-word' };
  return block({ alignItems: 'center', columnGap: size * 0.36 }, [
    { ...block(mark, displayName.slice(0, 1).toUpperCase()), key: ornamentKey },
    block(name, displayName),
  ]);
}

/** The URL without its scheme, for a phone whose camera cannot read the QR code. */
export function addressBlock({ qrCodeUrl, texts }: Poster, size: number): Block {
  const address = qrCodeUrl.replace(/^https?:\/\//, '');
  return block({ width: '100%', flexDirection: 'column', rowGap: size * 0.15 }, [
    textBlock(texts.noCamera, { size: size * 0.8, weight: 500, colour: colours.soft }),
    textBlock(address, { size, weight: 800, colour: colours.accent }),
  ]);
}
