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
  let above = new Uint8Array(rowBytes);
  for (let y = 0; y < height; y += 1) {
    const from = y * (rowBytes + 1);
    const row = data.subarray(y * rowBytes, (y + 1) * rowBytes);
    row.set(filtered.subarray(from + 1, from + 1 + rowBytes));
    // One loop a filter: a picture has millions of bytes, and a choice for each of them takes most of the time.
    const undo = unfilterRow[filtered[from] ?? 0];
    assert.ok(undo, `row ${y} has no filter of PNG's`);
    undo(row, above);
    above = row;
  }
  return data;
}

/** By the number of the filter; each adds to a row what its filter predicted. */
const unfilterRow: readonly ((row: Uint8Array, above: Uint8Array) => void)[] = [
  () => {},
  (row) => {
    for (let x = channels; x < row.length; x += 1) row[x] = byte(row, x) + byte(row, x - channels);
  },
  (row, above) => {
    for (let x = 0; x < row.length; x += 1) row[x] = byte(row, x) + byte(above, x);
  },
  (row, above) => {
    for (let x = 0; x < row.length; x += 1) {
      row[x] = byte(row, x) + ((byte(row, x - channels) + byte(above, x)) >> 1);
    }
  },
  (row, above) => {
    for (let x = 0; x < row.length; x += 1) {
      row[x] = byte(row, x) + nearest(byte(row, x - channels), byte(above, x), byte(above, x - channels));
    }
  },
];

/** Left of a row stands nothing but zeros. */
function byte(bytes: Uint8Array, at: number): number {
  return at < 0 ? 0 : (bytes[at] ?? 0);
}

function nearest(left: number, above: number, corner: number): number {
  const [toLeft, toAbove] = [Math.abs(above - corner), Math.abs(left - corner)];
  const toCorner = Math.abs(left + above - 2 * corner);
  if (toLeft <= toAbove && toLeft <= toCorner) return left;
  return toAbove <= toCorner ? above : corner;
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
  const data = new Uint8Array(width * height * channels);
  const sums = new Uint32Array(width * channels);
  for (let y = 0; y < height; y += 1) {
    sums.fill(0);
    for (let from = y * by; from < (y + 1) * by; from += 1) addRow(sums, picture, { row: from, by });
    for (let at = 0; at < sums.length; at += 1) data[y * sums.length + at] = Math.round((sums[at] ?? 0) / by ** 2);
  }
  return { width, height, data };
}

/** Adds each pixel of a row to the sum of the smaller picture's pixel that it becomes a part of. */
function addRow(sums: Uint32Array, { width, data }: Picture, { row, by }: { row: number; by: number }): void {
  let from = row * width * channels;
  for (let to = 0; to < sums.length; to += channels) {
    for (let pixel = 0; pixel < by; pixel += 1) {
      for (let channel = 0; channel < channels; channel += 1) {
        sums[to + channel] = (sums[to + channel] ?? 0) + (data[from + channel] ?? 0);
      }
      from += channels;
    }
  }
}

/** Each pixel becomes the average of those around it, as in a picture that is out of focus. */
export function blurred(picture: Picture, radius: number): Picture {
  const { width, height } = picture;
  const data = new Uint8Array(width * height * channels);
  const inside = (at: number, size: number) => Math.min(Math.max(at, 0), size - 1);
  for (let at = 0; at < data.length; at += 1) {
    const [pixel, channel] = [Math.floor(at / channels), at % channels];
    const [centreX, centreY] = [pixel % width, Math.floor(pixel / width)];
    let sum = 0;
    for (let y = centreY - radius; y <= centreY + radius; y += 1) {
      for (let x = centreX - radius; x <= centreX + radius; x += 1) {
        sum += picture.data[(inside(y, height) * width + inside(x, width)) * channels + channel] ?? 0;
      }
    }
    data[at] = Math.round(sum / (2 * radius + 1) ** 2);
  }
  return { width, height, data };
}

/** What the QR code in the picture says. Throws when none can be read. */
export function readQrCode(picture: Picture): string {
  return decodeQR(picture);
}
