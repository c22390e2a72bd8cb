import assert from 'node:assert/strict';
import { deflateSync } from 'node:zlib';
import { it } from 'node:test';
import { pngChunk, plainPng } from './poster.corpus.ts';
import { pngDimensions, pngProblem } from './png-check.ts';

const signatureBytes = 8;

/** A PNG whose header is changed, with a right checksum. */
function withHeader(png: Buffer, change: (header: Buffer) => void): Buffer {
  const header = Buffer.from(png.subarray(16, 29));
  change(header);
  return Buffer.concat([png.subarray(0, signatureBytes), pngChunk('IHDR', header), png.subarray(33)]);
}

it('takes a whole PNG up to 2000 × 2000 pixels, and says how large it is', () => {
  for (const [width, height] of [
    [1, 1],
    [300, 200],
    [2_000, 2_000],
  ] as const) {
    const png = plainPng(width, height);
    assert.equal(pngProblem(png), null);
    assert.deepEqual(pngDimensions(png), { width, height });
  }
});

it('refuses what is not a PNG, is damaged, or unpacks to something else than its header says', () => {
  const png = plainPng(300, 200);
  const flipped = Buffer.from(png);
  flipped.writeUInt8(flipped.readUInt8(60) ^ 1, 60);
  const cases: [string, Buffer, RegExp][] = [
    ['nothing', Buffer.alloc(0), /^is not a PNG$/],
    ['text', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), /^is not a PNG$/],
    ['a signature alone', png.subarray(0, signatureBytes), /^is a damaged PNG$/],
    ['a part', png.subarray(0, png.length - 20), /^is a damaged PNG$/],
    ['a flipped bit', flipped, /^is a damaged PNG$/],
    ['too few rows', plainPng(300, 200, '#c82828', 199), /^is a damaged PNG$/],
    ['too many rows', plainPng(300, 200, '#c82828', 201), /^is a damaged PNG$/],
    ['a bomb', plainPng(300, 200, '#c82828', 60_000), /^is a damaged PNG$/],
    ['too wide', plainPng(2_001, 1), /^is 2001 × 1 pixels/],
    ['no height', withHeader(png, (header) => header.writeUInt32BE(0, 4)), /^is 300 × 0 pixels/],
    ['an unknown kind of colour', withHeader(png, (header) => header.writeUInt8(5, 9)), /^is a damaged PNG$/],
    ['interlaced', withHeader(png, (header) => header.writeUInt8(1, 12)), /^is an interlaced PNG/],
    [
      'no header first',
      Buffer.concat([png.subarray(0, signatureBytes), pngChunk('IDAT', deflateSync('x')), png.subarray(33)]),
      /^is a damaged PNG$/,
    ],
    ['too many bytes', Buffer.concat([png, Buffer.alloc(200 * 1_024)]), /^has \d+ bytes; 204800 are the most$/],
  ];
  for (const [name, file, expected] of cases) assert.match(pngProblem(file) ?? 'taken', expected, name);
});
