import type { Log } from '../kit/log.ts';

/** Where a process writes. */
export interface Streams {
  stdout: { isTTY?: boolean; write(text: string): unknown };
  stderr: { isTTY?: boolean };
}

/** Says a sentence about the life of this process: that it migrated, is ready, stops. */
export type StartupLog = (sentence: string) => void;

/**
 * Standard output has these sentences for whoever started the process. The log, on standard error, has them too, so that
 * it is whole by itself, unless a terminal shows both.
 */
export function createStartupLog(log: Log, { stdout, stderr }: Streams): StartupLog {
  const sharesTerminal = stdout.isTTY === true && stderr.isTTY === true;
  return (sentence) => {
    stdout.write(`${sentence}\n`);
    if (!sharesTerminal) log.info(sentence);
  };
}
