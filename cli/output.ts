import { styleText } from 'node:util';
import { printable, printableJson } from '../server/src/kit/terminal-text.ts';

export type Colour = 'green' | 'red' | 'yellow' | 'dim' | 'bold';

/** Where a command speaks. With --json only data goes to standard output, so that programs can read all of it. */
export interface Output {
  isJson: boolean;
  /** The one answer of a command: `text` for people, `data` for programs. */
  result(text: string, data: unknown): void;
  /** One of many that come over time; with --json one line each. */
  item(text: string, data: unknown): void;
  /** For whoever watches: goes to standard error, in both modes. */
  note(text: string): void;
  /** The text in a colour, where standard output is a terminal and NO_COLOR is not set. */
  colour(colour: Colour, text: string): string;
}

interface Streams {
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
}

export function createOutput({ stdout, stderr }: Streams, isJson: boolean): Output {
  const print = (text: string): void => {
    stdout.write(`${text}\n`);
  };
  return {
    isJson,
    result: (text, data) => print(isJson ? printableJson(data, 2) : printable(text)),
    item: (text, data) => print(isJson ? printableJson(data) : printable(text)),
    note: (text) => {
      stderr.write(`${printable(text)}\n`);
    },
    // It looks at the stream, and at NO_COLOR and FORCE_COLOR, by itself.
    colour: (colour, text) => styleText(colour, text, { stream: stdout }),
  };
}
