import { spawn, type ChildProcess } from 'node:child_process';
import { dirname, join } from 'node:path';
import { watchOutput, type Program } from './program.ts';
import { ownEnvironment, ServiceWorld, type CommandOutput, type Settings } from './service-world.ts';

const repository = join(import.meta.dirname, '../..');

/** Starts the service as `npm start` does. */
export const serviceCommand: readonly string[] = [
  process.execPath,
  '--max-semi-space-size=16',
  '--max-old-space-size=1024',
  'server/src/main.ts',
];

/** A program of ours in its own process. */
export interface TestProcess extends Program {
  pid: number;
  signal(name: NodeJS.Signals): void;
  /** As a terminal does: to every process of its group; start it with `ownGroup`. */
  signalGroup(name: NodeJS.Signals): void;
}

/** Starts processes, for what only a process shows: signals, exit codes, streams, and what a kill leaves behind. */
export class ProcessWorld extends ServiceWorld {
  readonly #children: ChildProcess[] = [];
  #cache: string | undefined;

  constructor() {
    super();
    process.once('exit', this.#endChildren);
  }

  // SIGTERM, so that they stop their databases.
  readonly #endChildren = (): void => {
    for (const child of this.#children.filter(isRunning)) child.kill('SIGTERM');
  };

  /** Starts the service with these settings and none of the test's own; the system picks the port. */
  startService(settings: Settings): TestProcess {
    return this.start(serviceCommand, {
      PORT: '0',
      LOG_LEVEL: 'error',
      ...settings,
    });
  }

  /** Runs `node server/src/operator/main.ts` to its end. */
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
      env: { ...ownEnvironment(), NODE_COMPILE_CACHE: this.#compileCache(), MALLOC_ARENA_MAX: '2', ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#children.push(child);
    return watch(child);
  }

  /** Halves the cost of a start, of which a test file makes a dozen. The test command has one cache for all files. */
  #compileCache(): string {
    this.#cache ??= process.env['NODE_COMPILE_CACHE'] ?? dirname(this.newDataDirectory());
    return this.#cache;
  }

  /** Kills what still runs, and removes the directories. */
  override async close(): Promise<void> {
    process.removeListener('exit', this.#endChildren);
    for (const child of this.#children) {
      // Checked one by one: a child may end by itself while another one is awaited, and emits `exit` only once.
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
