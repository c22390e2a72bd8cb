import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { clusterDirectoryIn } from '../../server/src/database/embedded/cluster.ts';
import { stopOrphanedServer } from '../../server/src/database/embedded/orphaned-server.ts';
import { processIdentity } from '../../server/src/database/embedded/process-identity.ts';
import { systemClock } from '../../server/src/kit/clock.ts';
import type { ServiceProcess } from '../../server/src/process/run-service.ts';
import { processesIn, readyAt, watchOutput, type Program } from './program.ts';
import { createOncePerRun } from './shared-directory.ts';
import { fastTemporaryDirectory } from './temporary-directory.ts';

const directoryPrefix = 'dalasi-process-';

export type Settings = Readonly<Record<string, string>>;

/** The result of an operator's command. */
export interface CommandOutput {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** The JSON output of an operator's command, which has to succeed. */
export function jsonOf<Data>({ code, stdout, stderr }: CommandOutput): Data {
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' }, stdout);
  return JSON.parse(stdout) as Data;
}

/**
 * Starts whole services and operator's commands in the test's own process, each as its main.ts does, with their own
 * data directories, and cleans up. For what only a process shows, see process.ts.
 */
export class ServiceWorld {
  readonly #directories: string[] = [];
  readonly #services: Program[] = [];
  #used: Promise<string> | undefined;

  constructor() {
    removeAbandonedDirectories();
    // The runner ends a slow test file with a signal, which would leave its databases running.
    process.once('SIGTERM', exitWithHandlers).once('SIGINT', exitWithHandlers);
  }

  /** A path for DATA_DIR in a new directory; it does not exist yet. */
  newDataDirectory(): string {
    const directory = mkdtempSync(join(fastTemporaryDirectory(), `${directoryPrefix}${process.pid}-`));
    this.#directories.push(directory);
    return join(directory, 'data');
  }

  /** A data directory with a database and the demo merchant, from an earlier start. A copy takes 30 ms. */
  async usedDataDirectory(): Promise<string> {
    this.#used ??= this.#findUsedDirectory();
    const directory = this.newDataDirectory();
    cpSync(await this.#used, directory, { recursive: true });
    return directory;
  }

  async #findUsedDirectory(): Promise<string> {
    const shared = await createOncePerRun('used', (directory) => this.#use(directory));
    if (shared !== undefined) return shared;
    const own = this.newDataDirectory();
    await this.#use(own);
    return own;
  }

  async #use(dataDirectory: string): Promise<void> {
    const service = this.startServiceInProcess({ DATA_DIR: dataDirectory });
    await readyAt(service);
    service.stop();
    await service.ended;
  }

  /** Starts the service with these settings and none of the test's own; the system picks the port. */
  startServiceInProcess(settings: Settings): Program {
    const { promise: stop, resolve } = Promise.withResolvers<void>();
    const { written, streams } = recordStreams();
    const environment = { ...ownEnvironment(), PORT: '0', LOG_LEVEL: 'error', ...settings };
    const ended = run({ environment, ...streams, writeLog: streams.stderr.write, stop });
    const service: Program = { ...watchOutput({ written, ended }), stop: resolve };
    this.#services.push(service);
    return service;
  }

  /** Runs an operator's command to its end, at a tenth of the cost of a process. */
  async runOperatorInProcess(settings: Settings, args: readonly string[]): Promise<CommandOutput> {
    const { written, streams } = recordStreams();
    const { runCommand } = await import('../../server/src/operator/run-command.ts');
    const code = await runCommand(args, { environment: { ...ownEnvironment(), ...settings }, ...streams });
    return { code, ...written };
  }

  /** Stops what still runs, and removes the directories. */
  async close(): Promise<void> {
    process.removeListener('SIGTERM', exitWithHandlers).removeListener('SIGINT', exitWithHandlers);
    for (const service of this.#services) service.stop();
    for (const service of this.#services) await service.ended;
    for (const directory of this.#directories) {
      const clusterDirectory = clusterDirectoryIn(join(directory, 'data'));
      await stopOrphanedServer({ clusterDirectory, clock: systemClock, log: () => {} });
      rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
    }
  }
}

/** Imports on demand: loading the application takes most of a second, and most test files only start processes. */
async function run(service: ServiceProcess): Program['ended'] {
  const { runService } = await import('../../server/src/process/run-service.ts');
  return { code: await runService(service), signal: null };
}

/** Without the test's own settings, and without the variable that stops node's test runner inside itself. */
export function ownEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env;
  return { PATH, HOME, ...(TMPDIR === undefined ? {} : { TMPDIR }) };
}

function recordStreams() {
  const written = { stdout: '', stderr: '' };
  const writerFor = (name: keyof typeof written) => ({
    write: (text: string): void => {
      written[name] += text;
    },
  });
  return { written, streams: { stdout: writerFor('stdout'), stderr: writerFor('stderr') } };
}

function exitWithHandlers(): void {
  process.exit(1);
}

/** Removes the directories of test files that were killed; the name has the process id. */
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
      // Another test file is removing it too.
    }
  }
}
