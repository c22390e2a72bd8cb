import assert from 'node:assert/strict';
import { deflateSync } from 'node:zlib';
import { it } from 'node:test';
import { pngChunk, plainPng } from '../../posters/poster.corpus.ts';
import { pngDimensions, pngProblem } from './png-check.ts';

const signatureBytes = 8;

/** A PNG with a changed header and a correct checksum. */
function withHeader(png: Buffer, change: (header: Buffer) => void): Buffer {
  const header = Buffer.from(png.subarray(16, 29));
  change(header);
  return Buffer.concat([png.subarray(0, signatureBytes), pngChunk('IHDR', header), png.subarray(33)]);
}

const samplesPerPixel = new Map([
  [0, 1],
  [2, 3],
  [3, 1],
  [4, 2],
  [6, 4],
]);

/** One of 8 × 2 pixels, complete, whatever its header and its filter say. */
function pngOf(png: { colour: number; depth: number; filter?: number; palette?: Buffer }): Buffer {
  const header = Buffer.from([0, 0, 0, 8, 0, 0, 0, 2, png.depth, png.colour, 0, 0, 0]);
  const row = Buffer.alloc(1 + png.depth * (samplesPerPixel.get(png.colour) ?? 0));
  row.writeUInt8(png.filter ?? 0);
  return Buffer.concat([
    plainPng(1, 1).subarray(0, signatureBytes),
    pngChunk('IHDR', header),
    ...(png.palette ? [pngChunk('PLTE', png.palette)] : []),
    pngChunk('IDAT', deflateSync(Buffer.concat([row, row]))),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

it('accepts every kind of colour at every depth that it can have, and every filter', () => {
  const palette = Buffer.from('c82828ffffff', 'hex');
  for (const [colour, depths] of [
    [0, [1, 2, 4, 8, 16]],
    [2, [8, 16]],
    [3, [1, 2, 4, 8]],
    [4, [8, 16]],
    [6, [8, 16]],
  ] as const) {
    for (const depth of depths) assert.equal(pngProblem(pngOf({ colour, depth, palette })), null, `${colour} ${depth}`);
  }
  for (let filter = 0; filter <= 4; filter += 1) assert.equal(pngProblem(pngOf({ colour: 6, depth: 8, filter })), null);
});

it('accepts a complete PNG of up to 2000 × 2000 pixels and returns its dimensions', () => {
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

it('refuses a file that is no PNG, is damaged, or does not decompress to the size in its header', () => {
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
    ['a depth that its colours cannot have', pngOf({ colour: 2, depth: 4 }), /^is a damaged PNG$/],
    ['indexed colours without a palette', pngOf({ colour: 3, depth: 8 }), /^is a damaged PNG$/],
    ['a filter that there is not', pngOf({ colour: 6, depth: 8, filter: 5 }), /^is a damaged PNG$/],
    ['interlaced', withHeader(png, (header) => header.writeUInt8(1, 12)), /^is an interlaced PNG/],
    [
      'no header first',
      Buffer.concat([png.subarray(0, signatureBytes), pngChunk('IDAT', deflateSync('x')), png.subarray(33)]),
      /^is a damaged PNG$/,
    ],
    ['too many bytes', Buffer.concat([png, Buffer.alloc(200 * 1_024)]), /^has \d+ bytes; the maximum is 204800$/],
  ];
  for (const [name, file, expected] of cases) assert.match(pngProblem(file) ?? 'accepted', expected, name);
});
