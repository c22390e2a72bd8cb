import { addressBlock, codeBlock, networksBlock, placed, textBlock } from './blocks.ts';
import { colours } from './colours.ts';
import { fit } from './fit.ts';
import { logoShapes } from './logo-shapes.ts';
import type { Poster } from './poster.ts';
import { qrShapes } from './qr-shape.ts';
import { cornerDisc, inset, rectangle, roundedRectangle } from './scene.ts';
import type { Box, Scene, Shape } from './scene.ts';
import { pageSizes } from './sizes.ts';
import type { Block, Typesetter } from './typesetter.ts';

/** Where everything stands on a page, in pixels. What is left of a box stays white. */
interface Arrangement {
  /** The coloured head of the page. */
  band: number;
  logo: Box;
  merchantName: { withLogo: Box; alone: Box; sizeMax: number };
  scanToPay: Box & { sizeMax: number };
  /** The frame around the QR code. */
  card: Box;
  terminalName: Box & { sizeMax: number; align: 'center' | 'left' };
  code: Box & { size: number };
  networks: Box & { sizeMax: number; direction: 'row' | 'column' };
  address: Box & { sizeMax: number };
  test: Box;
}

/** Lays a poster out. All text is in outlines: what a merchant writes can become nothing but shapes. */
export async function composePoster(typesetter: Typesetter, poster: Poster): Promise<Scene> {
  const { arrangement, widthPixels: width, heightPixels: height } = pageSizes[poster.size];
  const places = arrangement === 'square' ? square(width) : portrait(width);
  const { card } = places;
  const qrCode = inset(card, cardFrame);
  const blocks = await textBlocks(typesetter, poster, places);
  const shapes: Shape[] = [
    rectangle({ x: 0, y: 0, width, height }, colours.card),
    rectangle({ x: 0, y: 0, width, height: places.band }, colours.accent),
    ...cornerDiscs(width, places.band),
    roundedRectangle(card, cardRadius, colours.tint),
    roundedRectangle(inset(card, cardBorder), cardRadius - cardBorder, colours.card),
    ...qrShapes(poster.qrCodeUrl, qrCode),
    ...(poster.logo ? logoShapes(poster.logo, places.logo) : []),
    ...(poster.testMode ? [rectangle(places.test, colours['wait-tint'])] : []),
    ...(await typesetter.outlines(blocks, { width, height })),
  ];
  return { width, height, shapes, qrCode };
}

const cardBorder = 14;
const cardFrame = 34;
const cardRadius = 72;

/** Rings that spread from the corner, like a signal. */
function cornerDiscs(width: number, band: number): Shape[] {
  const ring = band / 6;
  return [
    cornerDisc(width, ring * 3, '#0e735d'),
    cornerDisc(width, ring * 2.3, colours.accent),
    cornerDisc(width, ring * 1.6, '#0e735d'),
    cornerDisc(width, ring * 0.9, colours.accent),
  ];
}

async function textBlocks(typesetter: Typesetter, poster: Poster, places: Arrangement): Promise<Block[]> {
  const { texts } = poster;
  const merchantName = typesetter.printable(poster.merchantName);
  const terminalName = typesetter.printable(poster.terminalName);
  const { terminalName: counter, code, networks, address } = places;
  const merchantRoom = poster.logo ? places.merchantName.withLogo : places.merchantName.alone;
  const fitted = (room: Box, sizeMax: number, make: (size: number) => Block): Promise<Block> =>
    fit(typesetter, room, { max: sizeMax, min: Math.round(sizeMax / 3) }, make);
  const heading = (text: string, room: Box, sizeMax: number) =>
    fitted(room, sizeMax, (size) => textBlock(text, { size, weight: 800, colour: '#fff' }));
  const blocks = [
    placed(places.scanToPay, [await heading(texts.scan_to_pay, places.scanToPay, places.scanToPay.sizeMax)]),
    placed(code, [codeBlock(poster, code.size)]),
    placed(
      networks,
      [await fitted(networks, networks.sizeMax, (size) => networksBlock(poster, size, networks.direction))],
      networks.direction === 'row' ? 'middle' : 'head',
    ),
    placed(address, [await fitted(address, address.sizeMax, (size) => addressBlock(poster, size))]),
  ];
  if (merchantName !== '') {
    blocks.push(placed(merchantRoom, [await heading(merchantName, merchantRoom, places.merchantName.sizeMax)]));
  }
  if (terminalName !== '') {
    const make = (size: number) =>
      textBlock(terminalName, { size, weight: 800, colour: colours.ink, align: counter.align });
    blocks.push(placed(counter, [await fitted(counter, counter.sizeMax, make)]));
  }
  if (poster.testMode) {
    const make = (size: number) => textBlock(texts.test, { size, weight: 800, colour: colours.wait });
    blocks.push(placed(places.test, [await fitted(places.test, places.test.height * 0.5, make)]));
  }
  return blocks;
}

/** The poster and the A sizes: one column down the middle. */
function portrait(width: number): Arrangement {
  const margin = 110;
  const column = { x: margin, width: width - 2 * margin };
  const cardSide = 1068;
  return {
    band: 1150,
    logo: { ...column, y: 88, height: 160 },
    merchantName: {
      withLogo: { ...column, y: 264, height: 104 },
      alone: { ...column, y: 110, height: 220 },
      sizeMax: 92,
    },
    scanToPay: { ...column, y: 372, height: 226, sizeMax: 186 },
    card: { x: (width - cardSide) / 2, y: 640, width: cardSide, height: cardSide },
    terminalName: { ...column, y: 1734, height: 190, sizeMax: 96, align: 'center' },
    code: { ...column, y: 1934, height: 110, size: 84 },
    networks: { ...column, y: 2066, height: 76, sizeMax: 46, direction: 'row' },
    address: { ...column, y: 2152, height: 106, sizeMax: 42 },
    test: { x: 0, y: 2270, width, height: 70 },
  };
}

/** The sticker: the code at the left, what belongs to it beside it. */
function square(side: number): Arrangement {
  const margin = 80;
  const column = { x: margin, width: side - 2 * margin };
  const cardSide = 800;
  const beside = { x: margin + cardSide + 50, width: side - 2 * margin - cardSide - 50 };
  return {
    band: 640,
    logo: { ...column, y: 36, height: 100 },
    merchantName: {
      withLogo: { ...column, y: 142, height: 80 },
      alone: { ...column, y: 60, height: 150 },
      sizeMax: 80,
    },
    scanToPay: { ...column, y: 224, height: 140, sizeMax: 116 },
    card: { x: margin, y: 390, width: cardSide, height: cardSide },
    terminalName: { ...beside, y: 400, height: 220, sizeMax: 76, align: 'left' },
    code: { ...beside, y: 670, height: 100, size: 70 },
    networks: { ...beside, y: 810, height: 380, sizeMax: 46, direction: 'column' },
    address: { ...column, y: 1214, height: 130, sizeMax: 46 },
    test: { x: 0, y: 1364, width: side, height: 76 },
  };
}
