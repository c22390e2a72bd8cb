import type { Clock } from '../server/src/kit/clock.ts';
import type { CommandInput, CommandShape } from '../server/src/kit/command-line.ts';
import type { Random } from '../server/src/kit/random.ts';
import type { Output } from './output.ts';
import type { Terminal } from './terminal.ts';

/** What a command works with. Tests of one command make their own. */
export interface CommandContext {
  clock: Clock;
  random: Random;
  /** The environment variables; only main.ts reads process.env. */
  environment: Readonly<Record<string, string | undefined>>;
  /** All output, as text or, with --json, as data. */
  output: Output;
  /** Prompts and standard input. */
  terminal: Terminal;
  /** From the first call on, Ctrl-C and SIGTERM abort this signal instead of ending the program; for long commands. */
  interruption: () => AbortSignal;
}

/** 0: success. 1: a check or the command failed. A UsageError ends with 2. */
export type ExitCode = 0 | 1;

/** One command of `dalasi`. It prints through `context.output`. */
export interface Command extends CommandShape {
  run(context: CommandContext, input: CommandInput): Promise<ExitCode>;
}

const lineWidth = 80;

/** Options and what they do, as a command's help lists them: aligned, in lines of at most 80 characters. */
export function describeOptions(rows: readonly (readonly [option: string, description: string])[]): string {
  const column = Math.max(...rows.map(([option]) => option.length)) + 4;
  return rows
    .flatMap(([option, description]) => {
      const [first = '', ...rest] = wrap(description, lineWidth - column);
      return [`  ${option}`.padEnd(column) + first, ...rest.map((line) => ' '.repeat(column) + line)];
    })
    .join('\n');
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}

/** A failure that its message explains: printed without a stack, exit code 1. */
export class CommandFailure extends Error {
  override name = 'CommandFailure';
}
