import { addressBlock, codeBlock, networksBlock, textBlock } from './blocks.ts';
import { colours } from './colours.ts';
import { layOut, type LayoutItem } from './lay-out.ts';
import type { Poster } from './poster.ts';
import {
  cornerDisc,
  inset,
  logoShapes,
  qrShape,
  rectangle,
  roundedRectangle,
  type Box,
  type Drawing,
  type Shape,
} from './shapes.ts';
import { pageSizes } from './sizes.ts';
import type { Block, Typesetter } from './typesetter.ts';

/** The box of a text, and its largest font size, at which a usual text just fits. */
interface TextArea extends Box {
  sizeMax: number;
}

/** The positions on a page, in pixels. */
interface Arrangement {
  /** Of the counter's texts. */
  align: 'center' | 'left';
  /** The height of the coloured band at the top. */
  band: number;
  logo: Box;
  merchantName: { withLogo: TextArea; alone: TextArea };
  scanToPay: TextArea;
  /** The frame around the QR code. */
  card: Box;
  terminalName: TextArea;
  code: TextArea;
  /** A line between the counter's texts and the common ones. */
  rule: Box | null;
  networks: TextArea & { direction: 'row' | 'column' };
  address: TextArea;
  test: TextArea;
}

/** Lays out a poster. All visible text becomes outlines, so a merchant's text cannot inject anything. */
export async function composePoster(typesetter: Typesetter, poster: Poster): Promise<Drawing> {
  const { arrangement, widthPixels: width, heightPixels: height } = pageSizes[poster.size];
  const areas = arrangement === 'square' ? square(width) : portrait(width);
  const { card } = areas;
  const qrCode = inset(card, cardFrame);
  const layout = await layOut(typesetter, textItems(typesetter, poster, areas), { width, height });
  const shapes: Shape[] = [
    rectangle({ x: 0, y: 0, width, height }, colours.card),
    rectangle({ x: 0, y: 0, width, height: areas.band }, colours.accent),
    ...cornerDiscs(width),
    roundedRectangle(card, cardRadius, colours.tint),
    roundedRectangle(inset(card, cardBorder), cardRadius - cardBorder, colours.card),
    qrShape(poster.qrCodeUrl, qrCode),
    ...(poster.logo ? logoShapes(poster.logo, areas.logo) : []),
    ...(areas.rule ? [rectangle(areas.rule, colours.line)] : []),
    ...(poster.testMode ? [rectangle(areas.test, colours['wait-tint'])] : []),
    ...layout.shapes,
  ];
  return { width, height, shapes, qrCode, readTexts: layout.readTexts };
}

// The accent, a little lighter.
const ringColour = '#0e735d';

const cardBorder = 14;
// Wide enough that the round corners do not cut into the QR code's white quiet zone.
const cardFrame = 30;
const cardRadius = 66;

/** Rings around the upper right corner, like a signal. */
function cornerDiscs(width: number): Shape[] {
  return [0.3, 0.23, 0.16, 0.09].map((part, index) =>
    cornerDisc(width, Math.round(part * width), index % 2 === 0 ? ringColour : colours.accent),
  );
}

function textItems(typesetter: Typesetter, poster: Poster, areas: Arrangement): LayoutItem[] {
  const { texts } = poster;
  const { align, merchantName, terminalName, scanToPay, code, networks, address, test } = areas;
  const heading = (text: string, area: TextArea): LayoutItem =>
    itemIn(area, (size) => textBlock(text, { size, weight: 800, colour: '#fff' }));
  const merchant = typesetter.printable(poster.merchantName);
  const merchantArea = poster.logo ? merchantName.withLogo : merchantName.alone;
  const counter = typesetter.printable(poster.terminalName);
  const counterLook = { weight: 800, colour: colours.ink, align } as const;
  const testLook = { weight: 800, colour: colours.wait } as const;
  return [
    ...(merchant === '' ? [] : [heading(merchant, merchantArea)]),
    heading(texts.scanToPay, scanToPay),
    ...(counter === '' ? [] : [itemIn(terminalName, (size) => textBlock(counter, { size, ...counterLook }))]),
    itemIn(code, (size) => codeBlock(poster, size, align)),
    {
      ...itemIn(networks, (size) => networksBlock(poster, size, networks.direction)),
      ...(networks.direction === 'column' ? { verticalAlign: 'top' as const } : {}),
    },
    itemIn(address, (size) => addressBlock(poster, size)),
    ...(poster.testMode ? [itemIn(test, (size) => textBlock(texts.test, { size, ...testLook }))] : []),
  ];
}

function itemIn(area: TextArea, make: (size: number) => Block): LayoutItem {
  return { area, sizeMax: area.sizeMax, make };
}

/** The poster and the A sizes: one centred column. */
function portrait(width: number): Arrangement {
  const margin = 110;
  const column = { x: margin, width: width - 2 * margin };
  const cardSide = 1046;
  return {
    align: 'center',
    band: 1070,
    logo: { ...column, y: 56, height: 140 },
    merchantName: {
      withLogo: { ...column, y: 206, height: 92, sizeMax: 80 },
      alone: { ...column, y: 80, height: 206, sizeMax: 88 },
    },
    scanToPay: { ...column, y: 300, height: 210, sizeMax: 176 },
    card: { x: (width - cardSide) / 2, y: 548, width: cardSide, height: cardSide },
    terminalName: { ...column, y: 1622, height: 180, sizeMax: 96 },
    code: { ...column, y: 1828, height: 116, sizeMax: 79 },
    rule: { ...column, y: 1990, height: 3 },
    networks: { ...column, y: 2020, height: 84, sizeMax: 43, direction: 'row' },
    address: { ...column, y: 2124, height: 112, sizeMax: 44 },
    test: { x: 0, y: 2262, width, height: 78, sizeMax: 40 },
  };
}

/** The sticker: the QR code at the left, the counter's texts beside it. */
function square(side: number): Arrangement {
  const margin = 80;
  const column = { x: margin, width: side - 2 * margin };
  const cardSide = 800;
  const beside = { x: margin + cardSide + 50, width: side - 2 * margin - cardSide - 50 };
  return {
    align: 'left',
    band: 470,
    logo: { ...column, y: 36, height: 100 },
    merchantName: {
      withLogo: { ...column, y: 142, height: 76, sizeMax: 66 },
      alone: { ...column, y: 48, height: 164, sizeMax: 80 },
    },
    scanToPay: { ...column, y: 216, height: 140, sizeMax: 116 },
    card: { x: margin, y: 376, width: cardSide, height: cardSide },
    terminalName: { ...beside, y: 500, height: 200, sizeMax: 64 },
    code: { ...beside, y: 716, height: 90, sizeMax: 58 },
    rule: null,
    networks: { ...beside, y: 842, height: 334, sizeMax: 40, direction: 'column' },
    address: { ...column, y: 1204, height: 130, sizeMax: 46 },
    test: { x: 0, y: 1364, width: side, height: 76, sizeMax: 38 },
  };
}
