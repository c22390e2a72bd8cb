/** What a poster is made of, in the order of drawing; both the SVG and the PDF are written from it. */
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

export interface Scene {
  width: number;
  height: number;
  shapes: readonly Shape[];
  /** Where the QR code stands, with its margin. */
  qrCode: Box;
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

/** The quarter of a disc that the page's upper right corner leaves. */
export function cornerDisc(pageWidth: number, radius: number, fill: string): PathShape {
  return {
    kind: 'path',
    path: `M${pageWidth - radius} 0A${radius} ${radius} 0 0 0 ${pageWidth} ${radius}V0z`,
    fill,
  };
}

/** The same box, smaller by `by` on every side. */
export function inset({ x, y, width, height }: Box, by: number): Box {
  return { x: x + by, y: y + by, width: width - 2 * by, height: height - 2 * by };
}
