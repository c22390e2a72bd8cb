import { crc32, inflateSync } from 'node:zlib';

export const logoBytesMax = 200 * 1_024;
const sideMax = 2_000;

const signature = Buffer.from('89504e470d0a1a0a', 'hex');
const headerBytes = 13;

const indexed = 3;
/** By the colour type of the header: samples per pixel, and the bits that a sample can have (PNG, third edition, table 11.1). */
const colourTypes: ReadonlyMap<number, { samples: number; depths: readonly number[] }> = new Map([
  [0, { samples: 1, depths: [1, 2, 4, 8, 16] }],
  [2, { samples: 3, depths: [8, 16] }],
  [indexed, { samples: 1, depths: [1, 2, 4, 8] }],
  [4, { samples: 2, depths: [8, 16] }],
  [6, { samples: 4, depths: [8, 16] }],
]);
const filterMax = 4;

/** Width and height of a PNG that passed `pngProblem`. */
export function pngDimensions(png: Uint8Array): { width: number; height: number } {
  const header = Buffer.from(png.buffer, png.byteOffset, png.byteLength);
  return { width: header.readUInt32BE(16), height: header.readUInt32BE(20) };
}

/**
 * Why a file cannot be a logo, as the rest of a sentence, or null if it can. A logo is a complete PNG of limited size whose
 * chunks match their checksums and whose pixels are as many as the header says, so that it is small when decompressed, too.
 */
export function pngProblem(file: Uint8Array): string | null {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  if (bytes.length > logoBytesMax) return `has ${bytes.length} bytes; the maximum is ${logoBytesMax}`;
  if (!bytes.subarray(0, signature.length).equals(signature)) return 'is not a PNG';
  const chunks = readChunks(bytes);
  const header = chunks?.[0];
  if (!chunks || header?.type !== 'IHDR' || header.data.length !== headerBytes) return 'is a damaged PNG';
  const [width, height] = [header.data.readUInt32BE(0), header.data.readUInt32BE(4)];
  if (width === 0 || height === 0 || width > sideMax || height > sideMax) {
    return `is ${width} × ${height} pixels; the maximum is ${sideMax} × ${sideMax}`;
  }
  if (header.data[12] !== 0) return 'is an interlaced PNG; save it without interlacing';
  const [depth = 0, colour = 0] = header.data.subarray(8);
  const { samples, depths } = colourTypes.get(colour) ?? { samples: 0, depths: [] };
  if (!depths.includes(depth)) return 'is a damaged PNG';
  if (colour === indexed && !chunks.some(({ type }) => type === 'PLTE')) return 'is a damaged PNG';
  const rowBytes = Math.ceil((width * samples * depth) / 8) + 1;
  return hasRows(chunks, { rowBytes, height }) ? null : 'is a damaged PNG';
}

interface Chunk {
  type: string;
  data: Buffer;
}

/** All chunks, or undefined if one is truncated or does not match its checksum. */
function readChunks(bytes: Buffer): Chunk[] | undefined {
  const chunks: Chunk[] = [];
  let position = signature.length;
  while (position + 12 <= bytes.length) {
    const end = position + 8 + bytes.readUInt32BE(position);
    if (end + 4 > bytes.length || crc32(bytes.subarray(position + 4, end)) !== bytes.readUInt32BE(end))
      return undefined;
    const type = bytes.toString('latin1', position + 4, position + 8);
    chunks.push({ type, data: bytes.subarray(position + 8, end) });
    if (type === 'IEND') return chunks;
    position = end + 4;
  }
  return undefined;
}

/** Whether the pixels are as many as the header says, and each row names a filter: of another one a PDF cannot be written. */
function hasRows(chunks: readonly Chunk[], { rowBytes, height }: { rowBytes: number; height: number }): boolean {
  const packed = Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data));
  try {
    const pixels = inflateSync(packed, { maxOutputLength: rowBytes * height });
    if (pixels.length !== rowBytes * height) return false;
    for (let row = 0; row < height; row += 1) if (pixels.readUInt8(row * rowBytes) > filterMax) return false;
    return true;
  } catch {
    return false;
  }
}

// What the pixels need (PNG, third edition, section 5.6). Other chunks can hold anything, such as where a photo was taken.
const essentialTypes = new Set(['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND']);

/** A PNG that passed `pngProblem`, without its metadata. */
export function withoutMetadata(png: Uint8Array): Buffer {
  const bytes = Buffer.from(png.buffer, png.byteOffset, png.byteLength);
  const parts: Buffer[] = [signature];
  let position = signature.length;
  while (position + 12 <= bytes.length) {
    const end = position + 12 + bytes.readUInt32BE(position);
    const type = bytes.toString('latin1', position + 4, position + 8);
    if (essentialTypes.has(type)) parts.push(bytes.subarray(position, end));
    if (type === 'IEND') break;
    position = end;
  }
  return Buffer.concat(parts);
}
