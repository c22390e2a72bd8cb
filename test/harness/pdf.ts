import { inflateSync } from 'node:zlib';

/** What a reader finds in a PDF of ours. */
export interface ReadPdf {
  /** The catalogue and other dictionaries, as they are written. */
  objects: string;
  /** The texts in reading order, by the type of their structure element: `['H1', 'Kairaba Books']`. */
  texts: [type: string, text: string][];
  /** The text rendering mode of each text. */
  modes: Set<number>;
  /** The operators that draw, without those of text. */
  drawing: string;
}

/**
 * Reads the text of a one-page PDF as a viewer does for search and copying: the glyphs that the page shows, through the
 * `ToUnicode` table of their font (ISO 32000-1, 9.10). Knows what pdfkit writes.
 */
export function readPdf(bytes: Uint8Array): ReadPdf {
  const file = Buffer.from(bytes).toString('latin1');
  const objects = new Map<string, { dictionary: string; stream: string }>();
  for (const [, id = '', body = ''] of file.matchAll(/\n(\d+) 0 obj\n([\s\S]*?)\nendobj/g)) {
    const [dictionary = '', data] = body.split(/\nstream\n/);
    const packed = Buffer.from(data?.replace(/\nendstream$/, '') ?? '', 'latin1');
    const isPacked = dictionary.includes('/FlateDecode') && !dictionary.includes('/XObject');
    objects.set(id, { dictionary, stream: (isPacked ? inflateSync(packed) : packed).toString('latin1') });
  }
  const referred = (text: string, name: string): string =>
    new RegExp(`/${name} \\[?(\\d+) 0 R`).exec(text)?.[1] ?? fail(name);
  const page = [...objects.values()].find(({ dictionary }) => /\/Type \/Page\n/.test(dictionary));
  const content = objects.get(referred(page?.dictionary ?? '', 'Contents'))?.stream ?? '';
  const resources = objects.get(referred(page?.dictionary ?? '', 'Resources'))?.dictionary ?? '';
  const fonts = new Map(
    [...resources.matchAll(/\/(F\d+) (\d+) 0 R/g)].map(([, name = '', id = '']) => {
      const table = objects.get(referred(objects.get(id)?.dictionary ?? '', 'ToUnicode'))?.stream ?? '';
      return [name, readToUnicode(table)];
    }),
  );
  return {
    objects: [...objects.values()].map(({ dictionary }) => dictionary).join('\n'),
    ...readContent(content, fonts),
  };
}

function fail(name: string): never {
  throw new Error(`the PDF has no ${name}`);
}

/** By the glyph's code: the text it stands for. */
function readToUnicode(table: string): ReadonlyMap<number, string> {
  const texts = new Map<number, string>();
  for (const [, from = '', list = ''] of table.matchAll(/<([\da-f]{4})> <[\da-f]{4}> \[([^\]]*)\]/g)) {
    for (const [index, [, units = '']] of [...list.matchAll(/<([^>]*)>/g)].entries()) {
      const codes = units.split(' ').map((unit) => Number.parseInt(unit, 16));
      texts.set(Number.parseInt(from, 16) + index, String.fromCharCode(...codes));
    }
  }
  return texts;
}

function readContent(
  content: string,
  fonts: ReadonlyMap<string, ReadonlyMap<number, string>>,
): Omit<ReadPdf, 'objects'> {
  const texts: [string, string][] = [];
  const modes = new Set<number>();
  const drawing: string[] = [];
  let [mode, font, row] = [0, '', ''];
  for (const line of content.replaceAll(/<<\s[^>]*>>/g, '<<>>').split('\n')) {
    const [, type] = /^\/(\w+) .*BDC$/.exec(line) ?? [];
    if (type !== undefined) {
      texts.push([type, '']);
      row = '';
    }
    mode = Number(/^(\d) Tr$/.exec(line)?.[1] ?? mode);
    font = /^\/(F\d+) [\d.]+ Tf$/.exec(line)?.[1] ?? font;
    const [, nextRow] = / ([-\d.]+) Tm$/.exec(line) ?? [];
    const paragraph = texts.at(-1);
    if (nextRow !== undefined && paragraph && row !== '' && nextRow !== row) paragraph[1] += '\n';
    row = nextRow ?? row;
    if (line.endsWith(' TJ') && paragraph) {
      modes.add(mode);
      for (const [, glyphs = ''] of line.matchAll(/<([\da-f]*)>/g)) {
        for (const [code] of glyphs.matchAll(/.{4}/g)) {
          paragraph[1] += fonts.get(font)?.get(Number.parseInt(code, 16)) ?? '\ufffd';
        }
      }
    } else if (/(?:^| )(?:m|l|c|re|f|f\*|scn|cs|cm|Do)$/.test(line)) {
      drawing.push(line);
    }
  }
  return { texts, modes, drawing: drawing.join('\n') };
}
