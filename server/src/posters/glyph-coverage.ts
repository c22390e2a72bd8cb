import { readTable } from './read-font.ts';

/**
 * The code points that a font can draw, from its character map. The layout silently draws an empty box for any other, so missing
 * glyphs must be known before.
 *
 * Reads the map's formats 4 and 12 (OpenType, `cmap`), the only two that fonts for Unicode use today. Throws on anything else: the
 * fonts are ours.
 */
export function readGlyphCoverage(font: Buffer): ReadonlySet<number> {
  const map = readTable(font, 'cmap');
  const covered = new Set<number>();
  const count = map.readUInt16BE(2);
  for (let index = 0; index < count; index += 1) {
    const position = map.readUInt32BE(4 + index * 8 + 4);
    const format = map.readUInt16BE(position);
    if (format === 4) addSegments(map.subarray(position), covered);
    if (format === 12) addGroups(map.subarray(position), covered);
  }
  if (covered.size === 0) throw new Error('the font has no character map that could be read');
  return covered;
}

/** Format 4: segments with parallel lists of ends, starts, deltas and offsets. Glyph 0 is the box. */
function addSegments(table: Buffer, covered: Set<number>): void {
  const listBytes = table.readUInt16BE(6);
  const [ends, starts] = [14, 16 + listBytes];
  const [deltas, offsets] = [starts + listBytes, starts + 2 * listBytes];
  for (let position = 0; position < listBytes; position += 2) {
    const [end, start] = [table.readUInt16BE(ends + position), table.readUInt16BE(starts + position)];
    const [delta, offset] = [table.readUInt16BE(deltas + position), table.readUInt16BE(offsets + position)];
    for (let codePoint = start; codePoint <= end && codePoint < 0xffff; codePoint += 1) {
      const listed =
        offset === 0 ? codePoint : table.readUInt16BE(offsets + position + offset + 2 * (codePoint - start));
      const glyph = listed === 0 ? 0 : (listed + delta) & 0xffff;
      if (glyph !== 0) covered.add(codePoint);
    }
  }
}

/** Format 12: groups of first and last code point and first glyph. */
function addGroups(table: Buffer, covered: Set<number>): void {
  const count = table.readUInt32BE(12);
  for (let position = 16; position < 16 + count * 12; position += 12) {
    const [first, last, glyph] = [
      table.readUInt32BE(position),
      table.readUInt32BE(position + 4),
      table.readUInt32BE(position + 8),
    ];
    for (let codePoint = first; codePoint <= last; codePoint += 1) {
      if (glyph + codePoint - first !== 0) covered.add(codePoint);
    }
  }
}
