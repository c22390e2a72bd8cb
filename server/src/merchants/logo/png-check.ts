import { crc32, inflateSync } from 'node:zlib';

export const logoBytesMax = 200 * 1_024;
const sideMax = 2_000;

const signature = Buffer.from('89504e470d0a1a0a', 'hex');
const headerBytes = 13;

/** Samples per pixel, by the colour type of the header. */
const samples: ReadonlyMap<number, number> = new Map([
  [0, 1],
  [2, 3],
  [3, 1],
  [4, 2],
  [6, 4],
]);
const depths = new Set([1, 2, 4, 8, 16]);

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
  const perPixel = (samples.get(header.data[9] ?? 1) ?? 0) * (header.data[8] ?? 0);
  if (perPixel === 0 || !depths.has(header.data[8] ?? 0)) return 'is a damaged PNG';
  const pixelBytes = (Math.ceil((width * perPixel) / 8) + 1) * height;
  return hasPixels(chunks, pixelBytes) ? null : 'is a damaged PNG';
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

function hasPixels(chunks: readonly Chunk[], pixelBytes: number): boolean {
  const packed = Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data));
  try {
    return inflateSync(packed, { maxOutputLength: pixelBytes }).length === pixelBytes;
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
