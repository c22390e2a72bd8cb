import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { inflateSync } from 'node:zlib';

/**
 * A font of Noto Sans as OpenType. The package has it as WOFF, whose tables are packed: the library that writes PDFs would unpack them
 * in JavaScript for each document, which took it half of its time.
 */
export function readFont(subset: 'latin' | 'latin-ext', weight: 500 | 800): Buffer {
  const { resolve } = createRequire(import.meta.url);
  return unpackWoff(readFileSync(resolve(`@fontsource/noto-sans/files/noto-sans-${subset}-${weight}-normal.woff`)));
}

/** A table of an OpenType font. */
export function readTable(font: Buffer, tag: string): Buffer {
  const count = font.readUInt16BE(4);
  for (let index = 0; index < count; index += 1) {
    const entry = headerBytes + index * entryBytes;
    if (font.toString('latin1', entry, entry + 4) !== tag) continue;
    const offset = font.readUInt32BE(entry + 8);
    return font.subarray(offset, offset + font.readUInt32BE(entry + 12));
  }
  throw new Error(`the font has no table ${tag}`);
}

// Of OpenType, and of WOFF.
const [headerBytes, entryBytes] = [12, 16];
const [woffHeaderBytes, woffEntryBytes] = [44, 20];

/** From WOFF 1 (https://www.w3.org/TR/WOFF/) to OpenType. Throws on anything else: the fonts are ours. */
function unpackWoff(woff: Buffer): Buffer {
  if (woff.toString('latin1', 0, 4) !== 'wOFF') throw new Error('the font is not WOFF 1');
  const count = woff.readUInt16BE(12);
  const head = Buffer.alloc(headerBytes + count * entryBytes);
  woff.copy(head, 0, 4, 8);
  head.writeUInt16BE(count, 4);
  // What a binary search of the entries begins with.
  const searched = 2 ** Math.floor(Math.log2(count));
  head.writeUInt16BE(searched * entryBytes, 6);
  head.writeUInt16BE(Math.log2(searched), 8);
  head.writeUInt16BE((count - searched) * entryBytes, 10);
  const parts: Uint8Array[] = [head];
  let end = head.length;
  for (let index = 0; index < count; index += 1) {
    const packed = woffHeaderBytes + index * woffEntryBytes;
    const [offset = 0, packedBytes = 0, bytes = 0, checksum = 0] = [4, 8, 12, 16].map((field) =>
      woff.readUInt32BE(packed + field),
    );
    const stored = woff.subarray(offset, offset + packedBytes);
    const entry = headerBytes + index * entryBytes;
    woff.copy(head, entry, packed, packed + 4);
    for (const [field, value] of [checksum, end, bytes].entries()) head.writeUInt32BE(value, entry + 4 + field * 4);
    parts.push(packedBytes === bytes ? stored : inflateSync(stored), Buffer.alloc(-bytes & 3));
    end += bytes + (-bytes & 3);
  }
  return Buffer.concat(parts);
}
