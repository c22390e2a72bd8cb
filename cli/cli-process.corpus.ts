import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { emptyMachine, printedBy, type CliEnd, type Environment, type RunningCli } from './run-cli.corpus.ts';

/** A `dalasi` that runs as a process. */
export interface RunningProcess extends RunningCli {
  signal(name: NodeJS.Signals): void;
  /** For a program that was started at a terminal. */
  type(text: string): void;
}

/**
 * The tool as a process of its own, for what only a process shows: signals, terminals, closed pipes, launchers. Everything
 * else is `CliWorld`'s, which costs a tenth.
 */
export class CliProcessWorld {
  readonly directory = mkdtempSync(join(tmpdir(), 'dalasi-cli-'));
  readonly #children = new Set<ChildProcess>();
  readonly environment: Environment = {
    ...emptyMachine(this.directory),
    PATH: process.env['PATH'] ?? '',
    // The test command has one for all of its files.
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(this.directory, 'cache'),
  };

  /** To its end. */
  run(words: readonly string[], settings: Environment = {}, input = ''): Promise<CliEnd> {
    return this.start(words, settings, input).ended;
  }

  start(words: readonly string[], settings: Environment = {}, input = ''): RunningProcess {
    return this.startProgram([process.execPath, join(import.meta.dirname, 'main.ts'), ...words], settings, input);
  }

  /** The same at a terminal of its own, which `script` of util-linux makes. */
  startAtTerminal(words: readonly string[], settings: Environment = {}): RunningProcess {
    const typed = [process.execPath, join(import.meta.dirname, 'main.ts'), ...words].map((word) => `'${word}'`);
    return this.startProgram(['script', '-qec', typed.join(' '), '/dev/null'], { TERM: 'xterm', ...settings }, null);
  }

  /** With `null` its input stays open, for what is typed later. */
  startProgram(
    [program = '', ...args]: readonly string[],
    settings: Environment,
    input: string | null,
  ): RunningProcess {
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
      printed: printedBy(written, () => !this.#children.has(child)),
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
