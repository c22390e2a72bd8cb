import { spawn, type ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Clock } from '../../kit/clock.ts';
import { StartError } from '../../kit/start-error.ts';
import { clusterPathFor, lastLineOf, programOptions } from './cluster.ts';
import { removeFileOfDeadServer } from './orphaned-server.ts';
import { readServerFile } from './server-file.ts';
import { shutDown } from './shut-down.ts';
import type { ServerAccount } from './server-account.ts';

export interface ServerProcess {
  port: number;
  /** Resolves when the server has ended, for whatever reason. */
  exited: Promise<void>;
  stop(): Promise<void>;
}

export interface ServerOptions {
  postgres: string;
  clusterDirectory: string;
  logPath: string;
  account: ServerAccount | undefined;
  durable: boolean;
  clock: Clock;
  log: (sentence: string) => void;
  /** On top of those that every server gets. */
  settings?: Readonly<Record<string, string | number>>;
}

// After a kill the dead server's children keep its shared memory until their statements end.
const retryForMs = 15_000;
const retryEveryMs = 200;
const pollEveryMs = 5;
const slowStartNoticeMs = 5_000;
const logSizeMax = 1_000_000;
// Above 32767 the system assigns ports to outgoing connections, which could occupy this one at the next start.
const portsFrom = 20_000;
const portsTo = 32_768;
// A socket's path has 108 bytes on Linux and 104 on macOS, the name of the socket itself included.
const socketDirectoryBytesMax = 85;

const transientFailures = [
  /lock file "[^"]*" already exists/,
  /pre-existing shared memory block .* is still in use/,
  /could not create any TCP\/IP sockets/,
];

/** Starts the server and resolves when it accepts connections; recovery after a crash may take long. */
export async function startServer(options: ServerOptions): Promise<ServerProcess> {
  const { clock } = options;
  const deadlineMs = clock.now().getTime() + retryForMs;
  for (;;) {
    removeFileOfDeadServer(options.clusterDirectory);
    const attempt = await startOnce(options);
    if ('server' in attempt) return attempt.server;
    const transient = transientFailures.some((pattern) => pattern.test(attempt.output));
    if (!transient || clock.now().getTime() > deadlineMs) {
      throw new StartError(
        `The bundled PostgreSQL did not start: ${lastLineOf(attempt.output) ?? 'it printed nothing'}; its log is ${options.logPath}.`,
        { cause: new Error(attempt.output) },
      );
    }
    await clock.sleep(retryEveryMs);
  }
}

async function startOnce(options: ServerOptions): Promise<{ server: ServerProcess } | { output: string }> {
  const { clusterDirectory, logPath, clock, log } = options;
  const port = await findFreePort();
  rotateLog(logPath);
  const logFile = openSync(logPath, 'a', 0o600);
  const logStart = statSync(logPath).size;
  const child = spawn(options.postgres, serverArguments(options, port), {
    ...programOptions(clusterDirectory, options.account),
    // Ctrl-C in the terminal reaches the whole process group; the server has to outlive the last transactions.
    detached: true,
    stdio: ['ignore', logFile, logFile],
  });
  closeSync(logFile);
  // The server alone does not keep the process alive.
  child.unref();
  // The server ends with this process; only kill -9 leaves it running.
  const killOnExit = () => child.kill('SIGINT');
  process.once('exit', killOnExit);
  let failure: Error | undefined;
  let hasExited = false;
  const exited = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      failure = error;
      resolve();
    });
    child.once('exit', () => resolve());
  }).then(() => {
    hasExited = true;
    process.removeListener('exit', killOnExit);
  });

  const noticeAtMs = clock.now().getTime() + slowStartNoticeMs;
  let noticed = false;
  while (!hasExited) {
    const file = readServerFile(clusterDirectory);
    if (file?.pid === child.pid && file?.status === 'ready')
      return { server: serverProcess(child, port, exited, clock) };
    if (!noticed && clock.now().getTime() > noticeAtMs) {
      noticed = true;
      log('The database is still starting; after a crash it first replays its log.');
    }
    await clock.sleep(pollEveryMs);
  }
  const written = readFileSync(logPath).subarray(logStart).toString('utf8');
  return { output: failure ? failure.message : written };
}

function serverProcess(child: ChildProcess, port: number, exited: Promise<void>, clock: Clock): ServerProcess {
  return { port, exited, stop: () => shutDown({ signal: (name) => child.kill(name), gone: exited, clock }) };
}

function serverArguments(
  { clusterDirectory, account, durable, settings: more }: ServerOptions,
  port: number,
): string[] {
  const hasShortPath = Buffer.byteLength(clusterDirectory) <= socketDirectoryBytesMax;
  const path = clusterPathFor(clusterDirectory, account);
  const settings: Record<string, string | number> = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: hasShortPath && process.platform !== 'win32' ? path : '',
    log_destination: 'stderr',
    logging_collector: 'off',
    log_line_prefix: '%m [%p] ',
    // The client gets the errors of its statements, with the rows they name; this log only has starts, stops, crashes and
    // recoveries.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    log_checkpoints: 'off',
    log_autovacuum_min_duration: -1,
    ...(durable ? durableSettings : nonDurableSettings),
    ...more,
  };
  return ['-D', path, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

// On the command line, so that no file can weaken them by accident.
const durableSettings = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  // Without statistics the planner may use any index that begins with the merchant and read all of the merchant's rows, which
  // doubles the work of a payment after the first thousand. The default would leave new tables so for a minute.
  autovacuum_naptime: '5s',
};

// For tests. A killed server may lose its last half second, because a commit does not wait for a write. Cloning a database takes
// 18 ms instead of 55 to 120.
const nonDurableSettings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: 0,
  max_wal_size: '256MB',
  // A process of the crash tests has sixteen services with a pool each, and several test processes run at once.
  max_connections: 500,
  // In the data directory, so that a killed server leaves nothing in /dev/shm.
  dynamic_shared_memory_type: process.platform === 'win32' ? 'windows' : 'mmap',
  io_method: 'sync',
};

function rotateLog(logPath: string): void {
  const size = statSync(logPath, { throwIfNoEntry: false })?.size ?? 0;
  if (size > logSizeMax) renameSync(logPath, `${logPath}.1`);
}

async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const port = randomInt(portsFrom, portsTo);
    const isFree = await new Promise<boolean>((resolve) => {
      const probe = createServer();
      probe.once('error', () => resolve(false));
      probe.listen({ host: '127.0.0.1', port, exclusive: true }, () => probe.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
  throw new StartError(`No free port was found on 127.0.0.1 between ${portsFrom} and ${portsTo - 1}.`);
}
