import assert from 'node:assert/strict';
import { inflateSync } from 'node:zlib';
import decodeQR from 'qr/decode.js';

/** A picture as rows of red, green, blue and opacity. */
export interface Picture {
  width: number;
  height: number;
  data: Uint8Array;
}

const channels = 4;

/** Reads a PNG with 8 bits a channel and opacity: no more than what is needed to look at one, and nobody else's code. */
export function readPng(png: Uint8Array): Picture {
  const bytes = Buffer.from(png);
  assert.equal(bytes.toString('hex', 0, 8), '89504e470d0a1a0a');
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  assert.deepEqual([...bytes.subarray(24, 29)], [8, 6, 0, 0, 0], 'eight bits, colours with opacity, not interlaced');
  const packed: Buffer[] = [];
  for (let at = 8; at < bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    if (bytes.toString('latin1', at + 4, at + 8) !== 'IDAT') continue;
    packed.push(bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at)));
  }
  const filtered = inflateSync(Buffer.concat(packed));
  assert.equal(filtered.length, (width * channels + 1) * height);
  return { width, height, data: unfilter(filtered, width * channels, height) };
}

function unfilter(filtered: Buffer, rowBytes: number, height: number): Uint8Array {
  const data = new Uint8Array(rowBytes * height);
  for (let y = 0; y < height; y += 1) {
    const from = y * (rowBytes + 1);
    const filter = filtered[from] ?? 0;
    for (let x = 0; x < rowBytes; x += 1) {
      const at = y * rowBytes + x;
      const left = x < channels ? 0 : (data[at - channels] ?? 0);
      const above = y === 0 ? 0 : (data[at - rowBytes] ?? 0);
      const corner = x < channels || y === 0 ? 0 : (data[at - rowBytes - channels] ?? 0);
      data[at] = (filtered[from + 1 + x] ?? 0) + predicted(filter, left, above, corner);
    }
  }
  return data;
}

function predicted(filter: number, left: number, above: number, corner: number): number {
  if (filter === 0) return 0;
  if (filter === 1) return left;
  if (filter === 2) return above;
  if (filter === 3) return Math.floor((left + above) / 2);
  const guess = left + above - corner;
  const [toLeft, toAbove, toCorner] = [left, above, corner].map((value) => Math.abs(guess - value));
  if ((toLeft ?? 0) <= (toAbove ?? 0) && (toLeft ?? 0) <= (toCorner ?? 0)) return left;
  return (toAbove ?? 0) <= (toCorner ?? 0) ? above : corner;
}

/** How often each colour, as `#0b6a55`, stands in a part of the picture. */
export function coloursIn(
  { width, data }: Picture,
  part: { x: number; y: number; width: number; height: number },
): Record<string, number> {
  const counts = new Map<number, number>();
  for (let y = part.y; y < part.y + part.height; y += 1) {
    for (let at = (y * width + part.x) * channels; at < (y * width + part.x + part.width) * channels; at += channels) {
      const colour = ((data[at] ?? 0) << 16) | ((data[at + 1] ?? 0) << 8) | (data[at + 2] ?? 0);
      counts.set(colour, (counts.get(colour) ?? 0) + 1);
    }
  }
  return Object.fromEntries([...counts].map(([colour, count]) => [`#${colour.toString(16).padStart(6, '0')}`, count]));
}

/** The picture made smaller by a whole number, as a camera further away sees it. */
export function scaledDown(picture: Picture, by: number): Picture {
  const [width, height] = [Math.floor(picture.width / by), Math.floor(picture.height / by)];
  return average(picture, { width, height }, (x, y) => ({ x: x * by, y: y * by, side: by }));
}

/** Each pixel becomes the average of those around it, as in a picture that is out of focus. */
export function blurred(picture: Picture, radius: number): Picture {
  const side = 2 * radius + 1;
  return average(picture, picture, (x, y) => ({ x: x - radius, y: y - radius, side }));
}

function average(
  picture: Picture,
  { width, height }: { width: number; height: number },
  window: (x: number, y: number) => { x: number; y: number; side: number },
): Picture {
  const data = new Uint8Array(width * height * channels);
  const column = (x: number) => Math.min(Math.max(x, 0), picture.width - 1);
  const row = (y: number) => Math.min(Math.max(y, 0), picture.height - 1);
  for (let place = 0; place < width * height; place += 1) {
    const from = window(place % width, Math.floor(place / width));
    for (let channel = 0; channel < channels; channel += 1) {
      let sum = 0;
      for (let y = from.y; y < from.y + from.side; y += 1) {
        for (let x = from.x; x < from.x + from.side; x += 1) {
          sum += picture.data[(row(y) * picture.width + column(x)) * channels + channel] ?? 0;
        }
      }
      data[place * channels + channel] = Math.round(sum / from.side ** 2);
    }
  }
  return { width, height, data };
}

/** What the QR code in the picture says. Throws when none can be read. */
export function readQrCode(picture: Picture): string {
  return decodeQR(picture);
}
