import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { eventually } from '../test/harness/eventually.ts';
import { runCli } from './run-cli.ts';

export interface CliEnd {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A running `dalasi`. */
export interface RunningCli {
  stdout(): string;
  stderr(): string;
  /** Waits for it in either stream. */
  printed(pattern: RegExp): Promise<void>;
  ended: Promise<CliEnd>;
}

/** A `dalasi` that runs in the test's own process. */
export interface CallableCli extends RunningCli {
  /** What Ctrl-C does to a command that ends in order. */
  interrupt(): void;
}

export type Environment = Readonly<Record<string, string>>;

/** The variables of a machine where nothing is set: no keys, no development server. */
export function emptyMachine(directory: string): Environment {
  return { HOME: directory, XDG_CONFIG_HOME: join(directory, 'config'), DATA_DIR: join(directory, 'data') };
}

/** The tool in the test's own process, on a machine where nothing is set. */
export class CliWorld {
  readonly directory = mkdtempSync(join(tmpdir(), 'dalasi-cli-'));
  readonly #running = new Map<AbortController, Promise<CliEnd>>();

  /** To its end. */
  run(words: readonly string[], settings: Environment = {}, input = ''): Promise<CliEnd> {
    return this.start(words, settings, input).ended;
  }

  start(words: readonly string[], settings: Environment = {}, input = ''): CallableCli {
    const written = { stdout: '', stderr: '' };
    const interruption = new AbortController();
    let isInterruptible = false;
    const shell = {
      environment: { ...emptyMachine(this.directory), ...settings },
      streams: {
        stdin: Readable.from(input === '' ? [] : [Buffer.from(input)]),
        stdout: writingTo(written, 'stdout'),
        stderr: writingTo(written, 'stderr'),
      },
      interruption: () => {
        isInterruptible = true;
        return interruption.signal;
      },
    };
    const ended = runCli(words, shell)
      .then((code) => ({ code, ...written }))
      .finally(() => this.#running.delete(interruption));
    this.#running.set(interruption, ended);
    return {
      stdout: () => written.stdout,
      stderr: () => written.stderr,
      printed: printedBy(written, () => !this.#running.has(interruption)),
      interrupt: () => {
        assert(isInterruptible, 'a command that has not asked for it would have been ended by the signal itself');
        interruption.abort();
      },
      ended,
    };
  }

  /** Ends what still runs. */
  async close(): Promise<void> {
    for (const interruption of this.#running.keys()) interruption.abort();
    await Promise.all(this.#running.values());
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

type Written = Record<'stdout' | 'stderr', string>;

function writingTo(written: Written, name: keyof Written): Writable {
  return new Writable({
    decodeStrings: false,
    write: (text: string, _encoding, done) => {
      written[name] += text;
      done();
    },
  });
}

/** Waits for a pattern in either stream; fails when the program ends without it. */
export function printedBy(written: Written, hasEnded: () => boolean): (pattern: RegExp) => Promise<void> {
  return (pattern) =>
    eventually(`${pattern} is printed`, () => {
      // Asked first: what is written before the end has arrived when the end is known.
      const isOver = hasEnded();
      if (pattern.test(written.stdout + written.stderr)) return true;
      if (!isOver) return false;
      throw new Error(`it ended without printing ${pattern}:\n${written.stdout}\n${written.stderr}`);
    });
}

/**
 * An address on this machine where nobody listens, nor comes to listen by chance: its port is this end of a connection
 * that stays open, which the system gives to nobody else. Who asks for that very port can listen on it.
 */
export async function unusedUrl(): Promise<string> {
  const keeper = createServer((socket) => socket.unref()).listen(0, '127.0.0.1');
  await once(keeper, 'listening');
  const { port } = keeper.address() as AddressInfo;
  const held = connect({ host: '127.0.0.1', port, localAddress: '127.0.0.1' });
  await once(held, 'connect');
  // Until this process ends.
  keeper.unref();
  held.unref();
  return `http://127.0.0.1:${held.localPort}`;
}
