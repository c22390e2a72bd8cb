import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { dirname, join } from 'node:path';
import { watchOutput } from './program.ts';
import type { Program } from './program.ts';
import { ownEnvironment, ServiceWorld } from './service-world.ts';
import type { CommandOutput, Settings } from './service-world.ts';

const repository = join(import.meta.dirname, '../..');

/** A program of ours in a process of its own. */
export interface TestProcess extends Program {
  pid: number;
  signal(name: NodeJS.Signals): void;
  /** As a terminal does: to every process of its group, which it must have been started with. */
  signalGroup(name: NodeJS.Signals): void;
}

/** Starts processes too, for what only a process shows: signals, exit codes, streams, and what is left when it is killed. */
export class ProcessWorld extends ServiceWorld {
  readonly #children: ChildProcess[] = [];
  #cache: string | undefined;

  constructor() {
    super();
    process.once('exit', this.#endChildren);
  }

  // They stop as on any other day, and take their databases along.
  readonly #endChildren = (): void => {
    for (const child of this.#children.filter(isRunning)) child.kill('SIGTERM');
  };

  /** `node server/src/main.ts` with these settings and none of the test's own; the system picks the port. */
  startService(settings: Settings): TestProcess {
    return this.start([process.execPath, 'server/src/main.ts'], { PORT: '0', LOG_LEVEL: 'error', ...settings });
  }

  /** `node server/src/operator/main.ts`, to its end. */
  async runOperator(settings: Settings, args: readonly string[]): Promise<CommandOutput> {
    const child = this.start([process.execPath, 'server/src/operator/main.ts', ...args], settings);
    const { code } = await child.ended;
    return { code, stdout: child.stdout(), stderr: child.stderr() };
  }

  start(
    [program = '', ...args]: readonly string[],
    settings: Settings,
    { ownGroup = false, cwd = repository }: { ownGroup?: boolean; cwd?: string } = {},
  ): TestProcess {
    const child = spawn(program, args, {
      cwd,
      detached: ownGroup,
      env: { ...ownEnvironment(), NODE_COMPILE_CACHE: this.#compileCache(), ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#children.push(child);
    return watch(child);
  }

  /** Halves what a start costs, of which a test file makes a dozen. The test command has one for all of its files. */
  #compileCache(): string {
    this.#cache ??= process.env['NODE_COMPILE_CACHE'] ?? dirname(this.newDataDirectory());
    return this.#cache;
  }

  /** Ends what still runs, by id, and removes the directories. */
  override async close(): Promise<void> {
    process.removeListener('exit', this.#endChildren);
    for (const child of this.#children) {
      // Asked for each in its turn: one that ends by itself while another is waited for would never tell of it again.
      if (!isRunning(child)) continue;
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
    }
    await super.close();
  }
}

function isRunning(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

function watch(child: ChildProcess): TestProcess {
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
    });
  }
  const ended = new Promise<Awaited<TestProcess['ended']>>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  return {
    ...watchOutput({ written, ended }),
    pid: child.pid ?? 0,
    signal: (name) => child.kill(name),
    signalGroup: (name) => process.kill(-(child.pid ?? 0), name),
    stop: () => child.kill('SIGTERM'),
  };
}
