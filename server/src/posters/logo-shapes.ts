import { colours } from './colours.ts';
import { pngDimensions } from './png-check.ts';
import { inset, roundedRectangle } from './scene.ts';
import type { Box, Shape } from './scene.ts';

// A word as a logo may be wide; beyond this it grows no larger.
const aspectMax = 4;

/** A logo on a white tile in the middle of a box: it keeps its proportions, and its colours their background. */
export function logoShapes(png: Uint8Array, area: Box): Shape[] {
  const { width, height } = pngDimensions(png);
  const padding = area.height * 0.12;
  const aspect = Math.min(Math.max(width / height, 1), aspectMax);
  const tileWidth = (area.height - 2 * padding) * aspect + 2 * padding;
  const tile = { x: area.x + (area.width - tileWidth) / 2, y: area.y, width: tileWidth, height: area.height };
  return [roundedRectangle(tile, area.height * 0.2, colours.card), { kind: 'logo', png, area: inset(tile, padding) }];
}
