import type { Log } from '../kit/log.ts';

/** The output streams of a process. */
export interface Streams {
  stdout: { isTTY?: boolean; write(text: string): unknown };
  stderr: { isTTY?: boolean };
}

/** Prints and logs a sentence about the start or stop of this process. */
export type StartupLog = (sentence: string) => void;

/**
 * Writes these sentences to standard output and to the log on standard error, so that each is complete; only once if one
 * terminal shows both.
 */
export function createStartupLog(log: Log, { stdout, stderr }: Streams): StartupLog {
  const sharesTerminal = stdout.isTTY === true && stderr.isTTY === true;
  return (sentence) => {
    stdout.write(`${sentence}\n`);
    if (!sharesTerminal) log.info(sentence);
  };
}
