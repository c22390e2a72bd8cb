import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { clusterDirectoryIn } from '../../server/src/database/cluster.ts';
import { stopOrphanedServer } from '../../server/src/database/orphaned-server.ts';
import { processIdentity } from '../../server/src/database/process-identity.ts';
import { systemClock } from '../../server/src/kit/clock.ts';
import type { DemoFacts } from '../../server/src/demo.ts';
import { runCommand } from '../../server/src/operator/run-command.ts';
import { fastTemporaryDirectory } from './temporary-directory.ts';

const repository = join(import.meta.dirname, '../..');
// A start takes a second on a machine of its own; beside three other test files it has taken twelve.
const patienceMs = 60_000;
const pollEveryMs = 10;
const directoryPrefix = 'dalasi-process-';

/** A program of ours in a process of its own. */
export interface TestProcess {
  pid: number;
  stdout(): string;
  stderr(): string;
  /** Resolves with what the pattern found in what was printed; fails when the process ends without it. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  signal(name: NodeJS.Signals): void;
  /** As a terminal does: to every process of its group, which it must have been started with. */
  signalGroup(name: NodeJS.Signals): void;
  /** Resolves when it has ended and all it wrote has arrived. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

type Settings = Readonly<Record<string, string>>;

/** Starts processes and temporary directories for one test file, and takes them away again. */
export class ProcessWorld {
  readonly #children: ChildProcess[] = [];
  readonly #directories: string[] = [];
  #used: Promise<string> | undefined;
  #cache: string | undefined;

  constructor() {
    removeAbandonedDirectories();
    // A test file that takes too long is ended by a signal, which would leave its processes to nobody.
    process.once('SIGTERM', exitWithHandlers).once('SIGINT', exitWithHandlers).once('exit', this.#endChildren);
  }

  // They stop as on any other day, and take their databases along.
  readonly #endChildren = (): void => {
    for (const child of this.#children.filter(isRunning)) child.kill('SIGTERM');
  };

  /** An empty directory's path inside a new one, as DATA_DIR; nothing is there yet. */
  newDataDirectory(): string {
    const directory = mkdtempSync(join(fastTemporaryDirectory(), `${directoryPrefix}${process.pid}-`));
    this.#directories.push(directory);
    return join(directory, 'data');
  }

  /** A data directory with a past: a start made the database and the demo merchant and was stopped. A copy takes 30 ms. */
  async usedDataDirectory(): Promise<string> {
    this.#used ??= this.#makeUsedDirectory();
    const directory = this.newDataDirectory();
    cpSync(await this.#used, directory, { recursive: true });
    return directory;
  }

  async #makeUsedDirectory(): Promise<string> {
    const directory = this.newDataDirectory();
    const process = this.startService({ DATA_DIR: directory });
    await process.printed(/^Dalasi is ready at/m);
    process.signal('SIGTERM');
    await process.ended;
    return directory;
  }

  /** `node server/src/main.ts` with these settings and none of the test's own; the system picks the port. */
  startService(settings: Settings): TestProcess {
    return this.start([process.execPath, 'server/src/main.ts'], { PORT: '0', LOG_LEVEL: 'error', ...settings });
  }

  /** `node server/src/operator/main.ts`, to its end. */
  async runOperator(
    settings: Settings,
    words: readonly string[],
  ): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const child = this.start([process.execPath, 'server/src/operator/main.ts', ...words], settings);
    const { code } = await child.ended;
    return { code, stdout: child.stdout(), stderr: child.stderr() };
  }

  /** The same in the test's own process: a tenth of what a process costs. */
  async runOperatorHere(
    settings: Settings,
    words: readonly string[],
  ): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const written = { stdout: '', stderr: '' };
    const to = (stream: keyof typeof written) => ({
      write: (text: string) => {
        written[stream] += text;
      },
    });
    const environment = { ...ownEnvironment(), ...settings };
    const code = await runCommand(words, { environment, stdout: to('stdout'), stderr: to('stderr') });
    return { code, ...written };
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
  async close(): Promise<void> {
    process.removeListener('SIGTERM', exitWithHandlers).removeListener('SIGINT', exitWithHandlers);
    process.removeListener('exit', this.#endChildren);
    for (const child of this.#children) {
      // Asked for each in its turn: one that ends by itself while another is waited for would never tell of it again.
      if (!isRunning(child)) continue;
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
    }
    for (const directory of this.#directories) {
      const clusterDirectory = clusterDirectoryIn(join(directory, 'data'));
      await stopOrphanedServer({ clusterDirectory, clock: systemClock, log: () => {} });
      rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
    }
  }
}

// What is waited for in vain ends with the service's last resort, after 25 s. A busy machine may need all but some of them.
const stopMaxMs = 20_000;

/** What a test file that was ended left behind; its name says whose it was. */
function removeAbandonedDirectories(): void {
  const parent = fastTemporaryDirectory();
  for (const name of readdirSync(parent)) {
    const [, pid] = /^dalasi-process-(\d+)-/.exec(name) ?? [];
    if (pid === undefined || processIdentity(Number(pid)) !== undefined) continue;
    const directory = join(parent, name);
    if (processesIn(directory).length > 0) continue;
    try {
      rmSync(directory, { recursive: true, force: true });
    } catch {
      // Another test file is removing it too; it is in nobody's way.
    }
  }
}

function exitWithHandlers(): void {
  process.exit(1);
}

/** A service that was told to stop ends with 0 and without a word of trouble, and takes its PostgreSQL along. */
export async function assertEndsWell({
  service,
  dataDirectory,
}: {
  service: TestProcess;
  dataDirectory: string;
}): Promise<void> {
  const calledMs = performance.now();
  const { code, signal } = await service.ended;
  assert.deepEqual({ code, signal, stderr: service.stderr() }, { code: 0, signal: null, stderr: '' });
  assert(performance.now() - calledMs < stopMaxMs, 'nothing was waited for in vain');
  assert.match(service.stdout(), /\nStopped\.\n$/);
  assert.deepEqual(processesIn(dataDirectory), [], 'PostgreSQL is gone');
  assert(!existsSync(join(dataDirectory, 'dalasi.lock')), 'the data directory is free');
  assert(!existsSync(join(dataDirectory, 'postgres/postmaster.pid')), 'the database was shut down');
}

/** As `eventually`, with the patience that starting and stopping processes takes on a busy machine. */
export async function waitUntil(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = systemClock.now().getTime() + patienceMs;
  while (!(await isSo())) {
    if (systemClock.now().getTime() > giveUpAt) throw new Error(`it never came to this: ${what}`);
    await systemClock.sleep(pollEveryMs);
  }
}

/** What is in demo.json: where the service is, and the demo merchant's keys. */
export function readDemo(dataDirectory: string): DemoFacts {
  return JSON.parse(readFileSync(join(dataDirectory, 'demo.json'), 'utf8')) as DemoFacts;
}

/** The address that a service printed when it was ready. */
export async function readyAt(service: TestProcess): Promise<string> {
  const [, url = ''] = await service.printed(/^Dalasi is ready at (\S+)/m);
  return url;
}

/** The processes whose working directory is below this one: a database server's all are, and its initdb's. */
export function processesIn(directory: string): string[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => workingDirectoryOf(pid)?.startsWith(directory) ?? false);
}

function workingDirectoryOf(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    // It has ended meanwhile, or is another user's, which ours are not.
    return undefined;
  }
}

/** The test's own settings would reach the service, and node's test runner refuses to run inside itself. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env;
  return { PATH, HOME, ...(TMPDIR === undefined ? {} : { TMPDIR }) };
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
  let hasEnded = false;
  const ended = new Promise<Awaited<TestProcess['ended']>>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  }).finally(() => {
    hasEnded = true;
  });
  ended.catch(() => {});
  return {
    pid: child.pid ?? 0,
    stdout: () => written.stdout,
    stderr: () => written.stderr,
    signal: (name) => child.kill(name),
    signalGroup: (name) => process.kill(-(child.pid ?? 0), name),
    ended,
    async printed(pattern) {
      let found: RegExpExecArray | null = null;
      await waitUntil(`${pattern} is printed`, () => {
        // Asked first: what is written before the end has arrived when the end is known.
        const isOver = hasEnded;
        found = pattern.exec(written.stdout);
        if (found || !isOver) return found !== null;
        throw new Error(`it ended without printing ${pattern}:\n${written.stdout}\n${written.stderr}`);
      });
      return found ?? assert.fail();
    },
  };
}
