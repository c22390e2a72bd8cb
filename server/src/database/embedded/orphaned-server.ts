import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { basename, join } from 'node:path';
import type { Clock } from '../../kit/clock.ts';
import { errorCode, StartError } from '../../kit/start-error.ts';
import { processIdentity } from './process-identity.ts';
import { readServerFile, serverFilePath } from './server-file.ts';
import { shutDown } from './shut-down.ts';

const pollEveryMs = 10;

/**
 * Refuses a cluster that is used by a server which this process cannot see, in another container with the same files. Call it
 * before locking, which would take over the lock of a process that seems gone.
 *
 * @throws StartError when there is such a server.
 */
export async function refuseUnseenServer(clusterDirectory: string): Promise<void> {
  const file = readServerFile(clusterDirectory);
  if (!file || isServerOf(file.pid, clusterDirectory)) return;
  // A socket is a file, so it works across containers; the socket of a dead server refuses connections.
  if (!(await acceptsConnections(join(clusterDirectory, `.s.PGSQL.${file.port}`)))) return;
  throw new StartError(
    `Another database server, which this process cannot see, runs on ${clusterDirectory}; stop it (look for another container with the same files), or set DATA_DIR to another directory.`,
  );
}

/**
 * Stops the server that a killed process left running on this cluster. It is not reused, because its settings and its exit would
 * be out of control. Only the holder of the data directory's lock may call this.
 */
export async function stopOrphanedServer(options: {
  clusterDirectory: string;
  clock: Clock;
  log: (sentence: string) => void;
}): Promise<void> {
  const { clusterDirectory, clock, log } = options;
  const file = readServerFile(clusterDirectory);
  const identity = file && processIdentity(file.pid);
  if (!file || identity === undefined || !isServerOf(file.pid, clusterDirectory)) return;
  log(`Stopping the database server (process ${file.pid}) that an earlier run left behind.`);
  await shutDown({
    signal: (name) => signalIfThere(file.pid, name),
    gone: waitUntilGone(file.pid, identity, clock),
    clock,
  });
}

/**
 * Removes the `postmaster.pid` of a dead server whose process id is in use again: by a zombie, or by a later process, as in a
 * container, where the ids repeat at every start. PostgreSQL would take either for the server and refuse to start. Only when no
 * process works in the cluster; where the id is free, PostgreSQL removes the file itself.
 */
export function removeFileOfDeadServer(clusterDirectory: string): void {
  const file = readServerFile(clusterDirectory);
  if (process.platform !== 'linux' || !file || !existsSync(`/proc/${file.pid}`)) return;
  if (!isServerOf(file.pid, clusterDirectory) && !hasProcessIn(clusterDirectory)) {
    rmSync(serverFilePath(clusterDirectory), { force: true });
  }
}

/** A server's children work in the cluster too, and may outlive it until their statement ends. */
function hasProcessIn(clusterDirectory: string): boolean {
  const directory = realpathSync(clusterDirectory);
  return readdirSync('/proc').some((pid) => /^\d+$/.test(pid) && workingDirectoryOf(pid) === directory);
}

/** undefined for a zombie, and for a process of another user, which the server is not. */
function workingDirectoryOf(pid: string | number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

/** A server's working directory is its cluster; on other systems than Linux its command line is checked. */
function isServerOf(pid: number, clusterDirectory: string): boolean {
  try {
    const directory = realpathSync(clusterDirectory);
    if (process.platform === 'linux') {
      // The program may have been deleted or replaced since: "…/postgres (deleted)".
      const program = basename(readlinkSync(`/proc/${pid}/exe`));
      return program.startsWith('postgres') && workingDirectoryOf(pid) === directory;
    }
    if (process.platform === 'win32') return false;
    const command = execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
    return command.includes('postgres') && command.includes(clusterDirectory);
  } catch {
    return false;
  }
}

async function waitUntilGone(pid: number, identity: string, clock: Clock): Promise<void> {
  while (processIdentity(pid) === identity) await clock.sleep(pollEveryMs);
}

function signalIfThere(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}

function acceptsConnections(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path: socketPath });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
