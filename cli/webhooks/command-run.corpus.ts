import { systemClock, type Clock } from '../../server/src/kit/clock.ts';
import { readInput } from '../../server/src/kit/command-line.ts';
import { seededRandom } from '../../server/src/kit/random.ts';
import type { Command } from '../command.ts';

export interface CommandRun {
  exitCode: number;
  /** For people. */
  text: string;
  /** For programs. */
  data: unknown;
}

export interface RunSettings {
  environment?: Record<string, string>;
  clock?: Clock;
  /** Standard input. */
  input?: Uint8Array;
  isInteractive?: boolean;
  interruption?: AbortSignal;
}

/** Runs one command as `dalasi` does, and catches what it says. Rejects with what it throws. */
export async function runCommand(command: Command, words: string[], settings: RunSettings = {}): Promise<CommandRun> {
  const printed: { text: string; data: unknown }[] = [];
  const print = (text: string, data: unknown): void => void printed.push({ text, data });
  const exitCode = await command.run(
    {
      clock: settings.clock ?? systemClock,
      random: seededRandom('command'),
      environment: settings.environment ?? {},
      output: { isJson: false, result: print, item: print, note: () => {}, colour: (_colour, text) => text },
      terminal: {
        isInteractive: settings.isInteractive ?? false,
        confirm: async () => false,
        readSecret: async () => '',
        readInput: async () => Buffer.from(settings.input ?? []),
      },
      interruption: () => settings.interruption ?? new AbortController().signal,
    },
    readInput('dalasi', command, words),
  );
  return { exitCode, text: printed.map(({ text }) => text).join('\n'), data: printed.at(-1)?.data };
}

/** The real time, with limits as long as they are, in which nobody pauses as long as they say: a pause has no signal to end it. */
export function acceleratedClock(timesFaster: number): Clock {
  return { now: systemClock.now, sleep: (ms, signal) => systemClock.sleep(signal ? ms : ms / timesFaster, signal) };
}

/** The real time, in which nobody waits as long as they say: what is meant to take minutes takes seconds. */
export function fastClock(timesFaster: number): Clock {
  return { now: systemClock.now, sleep: (ms, signal) => systemClock.sleep(ms / timesFaster, signal) };
}
