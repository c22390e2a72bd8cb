import assert from 'node:assert/strict';
import { inflateSync } from 'node:zlib';
import decodeQR from 'qr/decode.js';

/** A picture as rows of red, green, blue and alpha. */
export interface Picture {
  width: number;
  height: number;
  data: Uint8Array;
}

const channels = 4;

/** Reads a PNG with 8 bits a channel and alpha: enough for the tests, without a package. */
export function readPng(png: Uint8Array): Picture {
  const bytes = Buffer.from(png);
  assert.equal(bytes.toString('hex', 0, 8), '89504e470d0a1a0a');
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  assert.deepEqual([...bytes.subarray(24, 29)], [8, 6, 0, 0, 0], 'eight bits, colours with opacity, not interlaced');
  const packed: Buffer[] = [];
  for (let index = 8; index < bytes.length; index += 12 + bytes.readUInt32BE(index)) {
    if (bytes.toString('latin1', index + 4, index + 8) !== 'IDAT') continue;
    packed.push(bytes.subarray(index + 8, index + 8 + bytes.readUInt32BE(index)));
  }
  const filtered = inflateSync(Buffer.concat(packed));
  assert.equal(filtered.length, (width * channels + 1) * height);
  return { width, height, data: unfilter(filtered, width * channels, height) };
}

function unfilter(filtered: Buffer, rowBytes: number, height: number): Uint8Array {
  const data = new Uint8Array(rowBytes * height);
  let above = new Uint8Array(rowBytes);
  for (let y = 0; y < height; y += 1) {
    const offset = y * (rowBytes + 1);
    const row = data.subarray(y * rowBytes, (y + 1) * rowBytes);
    row.set(filtered.subarray(offset + 1, offset + 1 + rowBytes));
    // One loop a filter: a branch for each of millions of bytes would take most of the time.
    const undo = unfilterRow[filtered[offset] ?? 0];
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

/** To the left of a row there are zeros. */
function byte(bytes: Uint8Array, index: number): number {
  return index < 0 ? 0 : (bytes[index] ?? 0);
}

function nearest(left: number, above: number, corner: number): number {
  const [toLeft, toAbove] = [Math.abs(above - corner), Math.abs(left - corner)];
  const toCorner = Math.abs(left + above - 2 * corner);
  if (toLeft <= toAbove && toLeft <= toCorner) return left;
  return toAbove <= toCorner ? above : corner;
}

/** How often each colour, as `#0b6a55`, occurs in a part of the picture. */
export function coloursIn(
  { width, data }: Picture,
  part: { x: number; y: number; width: number; height: number },
): Record<string, number> {
  const counts = new Map<number, number>();
  for (let y = part.y; y < part.y + part.height; y += 1) {
    for (
      let index = (y * width + part.x) * channels;
      index < (y * width + part.x + part.width) * channels;
      index += channels
    ) {
      const colour = ((data[index] ?? 0) << 16) | ((data[index + 1] ?? 0) << 8) | (data[index + 2] ?? 0);
      counts.set(colour, (counts.get(colour) ?? 0) + 1);
    }
  }
  return Object.fromEntries([...counts].map(([colour, count]) => [`#${colour.toString(16).padStart(6, '0')}`, count]));
}

/** The picture reduced by a whole factor, as from further away. */
export function scaledDown(picture: Picture, factor: number): Picture {
  const [width, height] = [Math.floor(picture.width / factor), Math.floor(picture.height / factor)];
  const data = new Uint8Array(width * height * channels);
  const sums = new Uint32Array(width * channels);
  for (let y = 0; y < height; y += 1) {
    sums.fill(0);
    for (let offset = y * factor; offset < (y + 1) * factor; offset += 1)
      addRow(sums, picture, { row: offset, factor });
    for (let index = 0; index < sums.length; index += 1)
      data[y * sums.length + index] = Math.round((sums[index] ?? 0) / factor ** 2);
  }
  return { width, height, data };
}

/** Adds each pixel of a row to the sum of its pixel in the smaller picture. */
function addRow(sums: Uint32Array, { width, data }: Picture, { row, factor }: { row: number; factor: number }): void {
  let offset = row * width * channels;
  for (let to = 0; to < sums.length; to += channels) {
    for (let pixel = 0; pixel < factor; pixel += 1) {
      for (let channel = 0; channel < channels; channel += 1) {
        sums[to + channel] = (sums[to + channel] ?? 0) + (data[offset + channel] ?? 0);
      }
      offset += channels;
    }
  }
}

/** Averages each pixel with those around it, as out of focus. */
export function blurred(picture: Picture, radius: number): Picture {
  const { width, height } = picture;
  const data = new Uint8Array(width * height * channels);
  const inside = (index: number, size: number) => Math.min(Math.max(index, 0), size - 1);
  for (let index = 0; index < data.length; index += 1) {
    const [pixel, channel] = [Math.floor(index / channels), index % channels];
    const [centreX, centreY] = [pixel % width, Math.floor(pixel / width)];
    let sum = 0;
    for (let y = centreY - radius; y <= centreY + radius; y += 1) {
      for (let x = centreX - radius; x <= centreX + radius; x += 1) {
        sum += picture.data[(inside(y, height) * width + inside(x, width)) * channels + channel] ?? 0;
      }
    }
    data[index] = Math.round(sum / (2 * radius + 1) ** 2);
  }
  return { width, height, data };
}

/** The text of the QR code in the picture. Throws when none can be read. */
export function readQrCode(picture: Picture): string {
  return decodeQR(picture);
}
