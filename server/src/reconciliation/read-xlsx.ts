import type { Readable } from 'node:stream';
import { SaxesParser } from 'saxes';
import yauzl from 'yauzl';
import { AppError } from '../api/app-error.ts';
import type { Row } from './row.ts';

// A million lines of a statement have some 400 MB of XML. Sizes are counted while they are unpacked: what the archive
// declares may be wrong.
const sheetBytesMax = 1_024 * 1_024 * 1_024;
const stringsBytesMax = 128 * 1_024 * 1_024;
// XML of tables shrinks to a twentieth; an archive that unpacks to more is made to exhaust memory.
const ratioMax = 150;
const ratioFromBytes = 4 * 1_024 * 1_024;
/** More are no statement. */
export const columnsMax = 200;
const cellCharactersMax = 32_768;
const stringsMax = 2_000_000;
const entriesMax = 1_000;

/**
 * The rows of the first sheet of a workbook, unpacked and parsed as they are read. Formulas are never computed: their text
 * stands in the cell. Throws AppError `invalid_request` for what is no workbook, or unpacks to too much.
 */
export async function* readXlsx(path: string): AsyncGenerator<Row> {
  const archive = await openArchive(path);
  try {
    const strings = await readSharedStrings(archive);
    const sheet = archive.entries.get(await firstSheet(archive));
    if (!sheet) throw refused('The file is no XLSX workbook: it has no sheet.');
    yield* readSheet(archive, sheet, strings);
  } finally {
    archive.zip.close();
  }
}

interface Archive {
  zip: yauzl.ZipFile;
  entries: ReadonlyMap<string, yauzl.Entry>;
}

async function openArchive(path: string): Promise<Archive> {
  try {
    const zip = await yauzl.openPromise(path, { lazyEntries: true, autoClose: false });
    const entries = new Map<string, yauzl.Entry>();
    if (zip.entryCount > entriesMax) throw new Error('too many entries');
    for await (const entry of zip.eachEntry()) entries.set(entry.fileName, entry);
    return { zip, entries };
  } catch (error) {
    throw refused('The file is no XLSX workbook: its archive cannot be read.', error);
  }
}

/** The unpacked text of an entry, in parts. */
async function* textOf({ zip }: Archive, entry: yauzl.Entry, bytesMax: number): AsyncGenerator<string> {
  let stream: Readable;
  try {
    stream = await zip.openReadStreamPromise(entry);
  } catch (error) {
    throw refused('A part of the workbook cannot be unpacked.', error);
  }
  const decoder = new TextDecoder('utf-8');
  let bytes = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      const isBomb = bytes > ratioFromBytes && bytes > ratioMax * Math.max(1, entry.compressedSize);
      if (bytes > bytesMax || isBomb)
        throw refused('The workbook unpacks to far more than a statement has: nothing is read.');
      yield decoder.decode(chunk, { stream: true });
    }
  } catch (error) {
    throw error instanceof AppError ? error : refused('A part of the workbook is damaged.', error);
  } finally {
    stream.destroy();
  }
}

/** Parses parts of XML; what the handlers collect is drained after each. */
async function* parseXml<Item>(
  parts: AsyncGenerator<string>,
  handlers: (parser: SaxesParser, collect: (item: Item) => void) => void,
): AsyncGenerator<Item> {
  const parser = new SaxesParser();
  const collected: Item[] = [];
  let problem: Error | null = null;
  parser.on('error', (error) => (problem ??= error));
  // A document type could declare entities that grow when they are used.
  parser.on('doctype', () => (problem ??= new Error('a document type')));
  handlers(parser, (item) => collected.push(item));
  for await (const part of parts) {
    parser.write(part);
    if (problem !== null) throw refused('A part of the workbook is no XML of a workbook.', problem);
    yield* collected.splice(0);
  }
  parser.close();
  if (problem !== null) throw refused('A part of the workbook is no XML of a workbook.', problem);
  yield* collected.splice(0);
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function attribute(attributes: Readonly<Record<string, unknown>>, name: string): string {
  const value = attributes[name];
  return typeof value === 'string' ? value : '';
}

/** The path of the sheet that the workbook names first; the usual one where that cannot be found. */
async function firstSheet(archive: Archive): Promise<string> {
  const usual = 'xl/worksheets/sheet1.xml';
  const workbook = archive.entries.get('xl/workbook.xml');
  const relations = archive.entries.get('xl/_rels/workbook.xml.rels');
  if (!workbook || !relations) return usual;
  const sheetIds = parseXml<string>(textOf(archive, workbook, stringsBytesMax), (parser, collect) => {
    parser.on('opentag', ({ name, attributes }) => {
      if (localName(name) === 'sheet') collect(attribute(attributes, 'r:id'));
    });
  });
  let id = '';
  for await (const sheetId of sheetIds) {
    id = sheetId;
    break;
  }
  const targets = parseXml<{ id: string; target: string }>(
    textOf(archive, relations, stringsBytesMax),
    (parser, collect) => {
      parser.on('opentag', ({ name, attributes }) => {
        if (localName(name) !== 'Relationship') return;
        collect({ id: attribute(attributes, 'Id'), target: attribute(attributes, 'Target') });
      });
    },
  );
  for await (const { id: relationId, target } of targets) {
    if (relationId === id) return target.startsWith('/') ? target.slice(1) : `xl/${target}`;
  }
  return usual;
}

async function readSharedStrings(archive: Archive): Promise<string[]> {
  const entry = archive.entries.get('xl/sharedStrings.xml');
  const strings: string[] = [];
  if (!entry) return strings;
  const items = parseXml<string>(textOf(archive, entry, stringsBytesMax), (parser, collect) => {
    let text = '';
    let isText = false;
    parser.on('opentag', ({ name }) => {
      if (localName(name) === 'si') text = '';
      isText = localName(name) === 't';
    });
    parser.on('text', (part) => {
      if (isText && text.length < cellCharactersMax) text += part.slice(0, cellCharactersMax);
    });
    parser.on('closetag', ({ name }) => {
      isText = false;
      if (localName(name) === 'si') collect(text);
    });
  });
  for await (const item of items) {
    if (strings.length >= stringsMax) throw refused('The workbook has more texts than a statement.');
    strings.push(item);
  }
  return strings;
}

/** A cell while it is read. */
interface OpenCell {
  column: number;
  type: string;
  value: string;
  formula: string | null;
}

async function* readSheet(archive: Archive, entry: yauzl.Entry, strings: readonly string[]): AsyncGenerator<Row> {
  yield* parseXml<Row>(textOf(archive, entry, sheetBytesMax), (parser, collect) => {
    let rowNumber = 0;
    let cells: string[] = [];
    let isTooWide = false;
    let cell: OpenCell | null = null;
    let element = '';
    parser.on('opentag', ({ name, attributes }) => {
      element = localName(name);
      if (element === 'row') {
        rowNumber = Number(attribute(attributes, 'r')) || rowNumber + 1;
        cells = [];
        isTooWide = false;
      } else if (element === 'c') {
        const column = columnOf(attribute(attributes, 'r')) ?? cells.length;
        cell = { column, type: attribute(attributes, 't'), value: '', formula: null };
      } else if (element === 'f' && cell) cell.formula = '';
    });
    parser.on('text', (part) => {
      if (cell === null || cell.column >= columnsMax) return;
      if (element === 'f') cell.formula = ((cell.formula ?? '') + part).slice(0, cellCharactersMax);
      else if (element === 'v' || element === 't') cell.value = (cell.value + part).slice(0, cellCharactersMax);
    });
    parser.on('closetag', ({ name }) => {
      const closed = localName(name);
      element = '';
      if (closed === 'c' && cell) {
        if (cell.column >= columnsMax) isTooWide = true;
        else {
          while (cells.length < cell.column) cells.push('');
          cells[cell.column] = textOfCell(cell, strings);
        }
        cell = null;
      } else if (closed === 'row') {
        if (isTooWide) collect({ rowNumber, refusal: tooWide });
        else if (cells.some((text) => text !== '')) collect({ rowNumber, cells });
      }
    });
  });
}

/** Why a row with very many columns is refused. */
export const tooWide = `It has more than ${columnsMax} columns.`;

/** The index of the column in `BC12`; null for anything else. */
function columnOf(reference: string): number | null {
  const letters = /^([A-Z]{1,3})\d+$/.exec(reference)?.[1];
  if (letters === undefined) return null;
  return letters.split('').reduce((index, letter) => index * 26 + (letter.charCodeAt(0) - 64), 0) - 1;
}

function textOfCell({ type, value, formula }: OpenCell, strings: readonly string[]): string {
  if (formula !== null) return `=${formula}`;
  switch (type) {
    case 's':
      return strings[Number(value)] ?? '';
    case 'b':
      return value === '1' ? 'true' : 'false';
    case 'inlineStr':
    case 'str':
    case 'd':
      return value;
    case 'e':
      return '';
    default:
      return numberText(value);
  }
}

// Spreadsheets keep 15 digits.
const exactBelow = 1e15;

/** A number as a person sees it: the file has 17 digits, such as 1250.4000000000001. A rounded one, as an id, keeps its exponent. */
function numberText(value: string): string {
  if (!/[.eE]/.test(value)) return value;
  const number = Number(value);
  if (!Number.isFinite(number)) return value;
  if (Math.abs(number) >= exactBelow) return number.toExponential();
  return Number(number.toPrecision(15)).toLocaleString('en', { useGrouping: false, maximumFractionDigits: 15 });
}

function refused(message: string, cause?: unknown): AppError {
  return new AppError('invalid_request', message, { cause });
}
