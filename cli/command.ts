import type { Clock } from '../server/src/kit/clock.ts';
import type { CommandInput, CommandShape } from '../server/src/kit/command-line.ts';
import type { Random } from '../server/src/kit/random.ts';
import type { Output } from './output.ts';
import type { Terminal } from './terminal.ts';

/** What a command works with. Tests of one command make their own. */
export interface CommandContext {
  clock: Clock;
  random: Random;
  /** The environment's variables; nothing below main.ts reads process.env. */
  environment: Readonly<Record<string, string | undefined>>;
  /** Where everything is said, as text or with --json as data. */
  output: Output;
  /** Questions to the person, and what comes by standard input. */
  terminal: Terminal;
  /** From the first call on, Ctrl-C and SIGTERM abort this instead of ending the program; for commands that run on. */
  interruption: () => AbortSignal;
}

/** 0: done and well. 1: something was found wrong or failed. What was typed wrong is a UsageError, which ends with 2. */
export type ExitCode = 0 | 1;

/** One command of `dalasi`: how it is typed, and what it does. It prints through `context.output`. */
export interface Command extends CommandShape {
  /** What `dalasi <command> --help` says below the usage: options, examples. */
  details?: string;
  run(context: CommandContext, input: CommandInput): Promise<ExitCode>;
}

/** Something that went wrong and that a sentence explains: printed without a stack, exit code 1. */
export class CommandFailure extends Error {
  override name = 'CommandFailure';
}
