import { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import { printable, printableJson } from '../server/src/kit/terminal-text.ts';

export type Colour = 'green' | 'red' | 'yellow' | 'dim' | 'bold';

/** The output of a command. With --json, standard output holds only data. */
export interface Output {
  isJson: boolean;
  /** The only result of a command: `text` for people, `data` for programs. */
  result(text: string, data: unknown): void;
  /** One of many that come over time; with --json one line each. */
  item(text: string, data: unknown): void;
  /** Progress and warnings: to standard error, in both modes. */
  note(text: string): void;
  /** The text in a colour, where standard output is a terminal and NO_COLOR is not set. */
  colour(colour: Colour, text: string): string;
}

/** Standard output or standard error, or what stands for one of them. */
export type OutputStream = NodeJS.WritableStream & { isTTY?: boolean };

interface Streams {
  stdout: OutputStream;
  stderr: OutputStream;
}

interface OutputOptions extends Pick<Output, 'isJson'> {
  environment: Readonly<Record<string, string | undefined>>;
}

export function createOutput({ stdout, stderr }: Streams, { isJson, environment }: OutputOptions): Output {
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
    colour: (colour, text) =>
      showsColours(stdout, environment) ? styleText(colour, text, { validateStream: false }) : text,
  };
}

/** The rule of styleText, which itself reads only the environment of the process. */
function showsColours({ isTTY }: OutputStream, environment: OutputOptions['environment']): boolean {
  if (isTTY !== true && environment['FORCE_COLOR'] === undefined) return false;
  // getColorDepth reads NO_COLOR, FORCE_COLOR and TERM.
  return WriteStream.prototype.getColorDepth(environment) > coloursOffDepth;
}

// Bits for each colour: one is black and white.
const coloursOffDepth = 2;
