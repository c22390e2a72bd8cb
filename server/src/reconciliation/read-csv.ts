import { createReadStream } from 'node:fs';
import { Transform } from 'node:stream';
import { parse } from 'csv-parse';
import { AppError } from '../api/app-error.ts';
import { LineLimit } from './line-limit.ts';
import type { Row } from './row.ts';

// The longest line of a real statement has a few hundred characters; one without an end would be held in memory.
const lineCharactersMax = 256 * 1_024;
const tooLong = `It is longer than ${lineCharactersMax.toLocaleString('en')} characters.`;

const byteOrderMarks: readonly { bytes: readonly number[]; encoding: string }[] = [
  { bytes: [0xff, 0xfe], encoding: 'utf-16le' },
  { bytes: [0xfe, 0xff], encoding: 'utf-16be' },
];

/**
 * The rows of a CSV file as they are read, in the order of their lines; only a few are in memory at a time. Throws AppError
 * `invalid_request` where a quote is not closed for so long that no row after it can be told.
 */
export async function* readCsv(path: string, head: Uint8Array, encoding: string): AsyncGenerator<Row> {
  const marked = byteOrderMarks.find(({ bytes }) => bytes.every((byte, index) => head[index] === byte));
  const decoderName = marked?.encoding ?? encoding;
  const beginning = new TextDecoder(decoderName).decode(head);
  const skipped = new SkippedRows();
  const parser = parse({
    bom: true,
    delimiter: delimiterOf(beginning),
    info: true,
    // Of several lines within a quote.
    max_record_size: 2 * lineCharactersMax,
    relax_column_count: true,
    // A quote within a cell stays there; it would swallow the rows up to the next one.
    relax_quotes: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    on_skip: (error) => {
      const rowNumber = Number(error?.['lines'] ?? 0);
      // What it has read of the file beside it is lost.
      if (error?.code === 'CSV_MAX_RECORD_SIZE') throw unclosedQuote(rowNumber);
      if (error) skipped.add(rowNumber, reasonOf(error.code));
      return undefined;
    },
  });
  const limit = new LineLimit({
    charactersMax: lineCharactersMax,
    lineBreak: beginning.includes('\n') || !beginning.includes('\r') ? '\n' : '\r',
    onLong: (lineNumber) => skipped.add(lineNumber, tooLong),
  });
  const source = createReadStream(path, { highWaterMark: lineCharactersMax });
  const decoded = source.pipe(decoderOf(decoderName, limit));
  for (const stream of [source, decoded]) stream.once('error', (error: Error) => parser.destroy(error));
  decoded.pipe(parser);
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
      yield* skipped.before(info.lines);
      yield { rowNumber: info.lines, cells: record };
    }
    yield* skipped.before(Infinity);
  } finally {
    source.destroy();
  }
}

// As many as may stand before the headings.
const headLinesMax = 30;

/**
 * The character that separates the cells of the first lines. Squares, so that headings and rows of many cells count for more than a
 * comma in each of the lines about the account above them.
 */
function delimiterOf(head: string): string {
  const lines = head.split(/\r\n|\n|\r/, headLinesMax);
  const counted = [',', ';', '\t', '|'].map((mark) => {
    return { mark, count: lines.reduce((sum, line) => sum + (line.split(mark).length - 1) ** 2, 0) };
  });
  return counted.toSorted((one, other) => other.count - one.count)[0]?.mark ?? ',';
}

function reasonOf(code: string): string {
  switch (code) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return 'A quote is not closed: nothing after it is read.';
    default:
      return 'Its quotes are not those of a CSV file.';
  }
}

function unclosedQuote(rowNumber: number): AppError {
  const message = `A quote is not closed by line ${rowNumber}, so no row after it can be told. Mend the file.`;
  return new AppError('invalid_request', message);
}

/**
 * Rows that are refused before they are parsed. The parser is ahead of its reader by how much it likes, so they are put where they
 * stand in the file: an import that was interrupted counts the rows that it had read.
 */
class SkippedRows {
  readonly #rows: (Row & { refusal: string })[] = [];

  add(rowNumber: number, refusal: string): void {
    // From the end, where nearly all belong: a file may have nothing but such rows.
    const before = this.#rows.findLastIndex((row) => row.rowNumber <= rowNumber);
    this.#rows.splice(before + 1, 0, { rowNumber, refusal });
  }

  before(rowNumber: number): Row[] {
    const index = this.#rows.findIndex((row) => row.rowNumber >= rowNumber);
    return this.#rows.splice(0, index === -1 ? this.#rows.length : index);
  }
}

/** Decodes a stream; a character that is none in the encoding becomes the replacement character, and ids with it are refused. */
function decoderOf(encoding: string, limit: LineLimit): Transform {
  const decoder = new TextDecoder(encoding);
  return new Transform({
    transform: (chunk: Uint8Array, _encoding, done) => done(null, limit.take(decoder.decode(chunk, { stream: true }))),
    flush: (done) => done(null, limit.take(decoder.decode()) + limit.end()),
  });
}
