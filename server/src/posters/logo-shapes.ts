import { colours } from './colours.ts';
import { pngDimensions } from './png-check.ts';
import { inset, roundedRectangle } from './scene.ts';
import type { Box, Shape } from './scene.ts';

// A word as a logo may be wide; beyond this it grows no larger.
const aspectMax = 4;

/** A logo on a white tile in the middle of a box: it keeps its proportions, and its colours their background. */
export function logoShapes(png: Uint8Array, room: Box): Shape[] {
  const { width, height } = pngDimensions(png);
  const padding = room.height * 0.12;
  const aspect = Math.min(Math.max(width / height, 1), aspectMax);
  const tileWidth = (room.height - 2 * padding) * aspect + 2 * padding;
  const tile = { x: room.x + (room.width - tileWidth) / 2, y: room.y, width: tileWidth, height: room.height };
  return [roundedRectangle(tile, room.height * 0.2, colours.card), { kind: 'logo', png, place: inset(tile, padding) }];
}
