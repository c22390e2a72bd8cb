import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '../test/harness/wait-until.ts';

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
  signal(name: NodeJS.Signals): void;
  /** For a program that was started at a terminal. */
  type(text: string): void;
  ended: Promise<CliEnd>;
}

export type Environment = Readonly<Record<string, string>>;

/** The tool as a process of its own, on a machine where nothing is set: no keys, no development server. */
export class CliWorld {
  readonly directory = mkdtempSync(join(tmpdir(), 'dalasi-cli-'));
  readonly #children = new Set<ChildProcess>();
  readonly environment: Environment = {
    PATH: process.env['PATH'] ?? '',
    HOME: this.directory,
    XDG_CONFIG_HOME: join(this.directory, 'config'),
    DATA_DIR: join(this.directory, 'data'),
    NODE_COMPILE_CACHE: join(this.directory, 'cache'),
  };

  /** To its end. */
  run(words: readonly string[], settings: Environment = {}, input = ''): Promise<CliEnd> {
    return this.start(words, settings, input).ended;
  }

  start(words: readonly string[], settings: Environment = {}, input = ''): RunningCli {
    return this.startProgram([process.execPath, join(import.meta.dirname, 'main.ts'), ...words], settings, input);
  }

  /** The same at a terminal of its own, which `script` of util-linux makes. */
  startAtTerminal(words: readonly string[], settings: Environment = {}): RunningCli {
    const typed = [process.execPath, join(import.meta.dirname, 'main.ts'), ...words].map((word) => `'${word}'`);
    return this.startProgram(['script', '-qec', typed.join(' '), '/dev/null'], { TERM: 'xterm', ...settings }, null);
  }

  /** With `null` its input stays open, for what is typed later. */
  startProgram([program = '', ...args]: readonly string[], settings: Environment, input: string | null): RunningCli {
    const child = spawn(program, args, { cwd: this.directory, env: { ...this.environment, ...settings } });
    this.#children.add(child);
    const written = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        written[name] += text;
      });
    }
    // Who does not read its input may be gone before it was written.
    child.stdin.on('error', () => {});
    if (input !== null) child.stdin.end(input);
    const ended = new Promise<CliEnd>((resolve, reject) => {
      child.once('error', reject).once('close', (code) => resolve({ code, ...written }));
    }).finally(() => this.#children.delete(child));
    return {
      stdout: () => written.stdout,
      stderr: () => written.stderr,
      printed: (pattern) =>
        waitUntil(`${pattern} is printed`, () => {
          if (pattern.test(written.stdout + written.stderr)) return true;
          if (this.#children.has(child)) return false;
          throw new Error(`it ended without printing ${pattern}:\n${written.stdout}\n${written.stderr}`);
        }),
      signal: (name) => child.kill(name),
      type: (text) => child.stdin.write(text),
      ended,
    };
  }

  close(): void {
    for (const child of this.#children) child.kill('SIGKILL');
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }
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
