import { encodeQR } from 'qr';
import type { Box, PathShape } from './scene.ts';

// The standard's quiet zone; scanners miss codes that touch other things.
const borderModules = 4;

/**
 * The dark modules of a QR code that fills the box, its margin included. The box must be white: many scanners read only
 * dark on light. A quarter of the code may be scratched, stained or covered and it is still read.
 */
export function qrShape(text: string, box: Box): PathShape {
  const rows = encodeQR(text, 'raw', { border: borderModules, ecc: 'quartile' });
  // Whole pixels a module: edges that fall between two pixels are drawn uneven. What is left over widens the margin.
  const module = Math.floor(box.width / rows.length);
  const unused = (box.width - module * rows.length) / 2;
  const [left, top] = [Math.round(box.x + unused), Math.round(box.y + unused)];
  const path = rows.map((row, y) => rowPath(row, left, { y: top + y * module, module })).join('');
  return { kind: 'path', path, fill: '#000' };
}

/** Each run of dark modules is one rectangle. */
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
