import { encodeQR } from 'qr';
import { colours } from './colours.ts';
import { pngDimensions } from '../merchants/logo/png-check.ts';

export type Shape = PathShape | LogoShape;

export interface PathShape {
  kind: 'path';
  /** SVG path data, in pixels of the page. */
  path: string;
  fill: string;
}

export interface LogoShape {
  kind: 'logo';
  png: Uint8Array;
  area: Box;
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** One line of laid-out text, in pixels of the page. */
export interface TextLine {
  text: string;
  x: number;
  baseline: number;
  width: number;
  size: number;
}

/** A laid-out poster, from which the SVG, the PNG and the PDF are written. */
export interface Drawing {
  width: number;
  height: number;
  /** In drawing order. */
  shapes: readonly Shape[];
  /** The QR code with its quiet zone. */
  qrCode: Box;
  /** The texts in reading order, each with its lines. */
  readTexts(): Promise<TextLine[][]>;
}

export function rectangle({ x, y, width, height }: Box, fill: string): PathShape {
  return { kind: 'path', path: `M${x} ${y}h${width}v${height}h${-width}z`, fill };
}

export function roundedRectangle({ x, y, width, height }: Box, radius: number, fill: string): PathShape {
  const corner = (dx: number, dy: number) => `a${radius} ${radius} 0 0 1 ${dx} ${dy}`;
  const [across, down] = [width - 2 * radius, height - 2 * radius];
  const path = [
    `M${x + radius} ${y}h${across}${corner(radius, radius)}v${down}${corner(-radius, radius)}`,
    `h${-across}${corner(-radius, -radius)}v${-down}${corner(radius, -radius)}z`,
  ].join('');
  return { kind: 'path', path, fill };
}

/** A quarter disc in the upper right corner of the page. */
export function cornerDisc(pageWidth: number, radius: number, fill: string): PathShape {
  return {
    kind: 'path',
    path: `M${pageWidth - radius} 0A${radius} ${radius} 0 0 0 ${pageWidth} ${radius}V0z`,
    fill,
  };
}

/** The box, smaller by `margin` on every side. */
export function inset({ x, y, width, height }: Box, margin: number): Box {
  return { x: x + margin, y: y + margin, width: width - 2 * margin, height: height - 2 * margin };
}

// A wide logo, such as a word, is scaled down beyond this ratio.
const logoAspectMax = 4;

/** A logo in its own proportions on a white tile in the middle of a box. */
export function logoShapes(png: Uint8Array, area: Box): Shape[] {
  const { width, height } = pngDimensions(png);
  const padding = area.height * 0.12;
  const aspect = Math.min(Math.max(width / height, 1), logoAspectMax);
  const tileWidth = (area.height - 2 * padding) * aspect + 2 * padding;
  const tile = { x: area.x + (area.width - tileWidth) / 2, y: area.y, width: tileWidth, height: area.height };
  return [roundedRectangle(tile, area.height * 0.2, colours.card), { kind: 'logo', png, area: inset(tile, padding) }];
}

// The standard's quiet zone, without which scanners miss the code.
const quietZoneModules = 4;

/**
 * The dark modules of a QR code that fills the box, including its quiet zone. The box must be white, because many scanners read
 * only dark on light. A code with a quarter of it scratched, stained or covered can still be read.
 */
export function qrShape(text: string, box: Box): PathShape {
  const rows = encodeQR(text, 'raw', { border: quietZoneModules, ecc: 'quartile' });
  // Whole pixels per module keep edges sharp; the rest widens the quiet zone.
  const module = Math.floor(box.width / rows.length);
  const unused = (box.width - module * rows.length) / 2;
  const [left, top] = [Math.round(box.x + unused), Math.round(box.y + unused)];
  const path = rows.map((row, y) => rowPath(row, left, { y: top + y * module, module })).join('');
  return { kind: 'path', path, fill: '#000' };
}

/** One rectangle per run of dark modules. */
function rowPath(row: readonly boolean[], left: number, { y, module }: { y: number; module: number }): string {
  let path = '';
  for (let x = 0; x < row.length; x += 1) {
    if (row[x] !== true) continue;
    const start = x;
    while (row[x + 1] === true) x += 1;
    const width = (x + 1 - start) * module;
    path += `M${left + start * module} ${y}h${width}v${module}h${-width}z`;
  }
  return path;
}
