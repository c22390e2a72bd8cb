import { createReadStream } from 'node:fs';
import { Transform } from 'node:stream';
import { parse } from 'csv-parse';
import type { Row } from './row.ts';

// The longest line of a real statement has a few hundred characters; one without an end would be held in memory.
const recordCharactersMax = 256 * 1_024;

const byteOrderMarks: readonly { bytes: readonly number[]; encoding: string }[] = [
  { bytes: [0xff, 0xfe], encoding: 'utf-16le' },
  { bytes: [0xfe, 0xff], encoding: 'utf-16be' },
];

/** The rows of a CSV file as they are read; only a few are in memory at a time. */
export async function* readCsv(path: string, head: Uint8Array, encoding: string): AsyncGenerator<Row> {
  const marked = byteOrderMarks.find(({ bytes }) => bytes.every((byte, index) => head[index] === byte));
  const decoderName = marked?.encoding ?? encoding;
  const skipped: Row[] = [];
  const parser = parse({
    bom: true,
    delimiter: delimiterOf(new TextDecoder(decoderName).decode(head)),
    info: true,
    max_record_size: recordCharactersMax,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    on_skip: (error) => {
      if (error) skipped.push({ rowNumber: Number(error['lines'] ?? 0), refusal: reasonOf(error.code) });
      return undefined;
    },
  });
  const source = createReadStream(path, { highWaterMark: 256 * 1_024 });
  const decoded = source.pipe(decoderOf(decoderName));
  for (const stream of [source, decoded]) stream.once('error', (error: Error) => parser.destroy(error));
  decoded.pipe(parser);
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
      yield* skipped.splice(0);
      yield { rowNumber: info.lines, cells: record };
    }
    yield* skipped.splice(0);
  } finally {
    source.destroy();
  }
}

/** The character that most often separates the cells of the first line. */
function delimiterOf(head: string): string {
  const [firstLine = ''] = head.split(/\r?\n/, 1);
  const counted = [',', ';', '\t', '|'].map((mark) => ({ mark, count: firstLine.split(mark).length }));
  return counted.toSorted((one, other) => other.count - one.count)[0]?.mark ?? ',';
}

function reasonOf(code: string): string {
  switch (code) {
    case 'CSV_MAX_RECORD_SIZE':
      return `It is longer than ${recordCharactersMax.toLocaleString('en')} characters.`;
    case 'CSV_QUOTE_NOT_CLOSED':
      return 'A quote is not closed.';
    default:
      return 'Its quotes are not those of a CSV file.';
  }
}

/** Decodes a stream; a character that is none in the encoding becomes the replacement character, and ids with it are refused. */
function decoderOf(encoding: string): Transform {
  const decoder = new TextDecoder(encoding);
  return new Transform({
    transform: (chunk: Uint8Array, _encoding, done) => done(null, decoder.decode(chunk, { stream: true })),
    flush: (done) => done(null, decoder.decode()),
  });
}
