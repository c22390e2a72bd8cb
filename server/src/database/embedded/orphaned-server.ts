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
 * Refuses a cluster that a server runs on which this process cannot see: another container on the same files. Comes
 * before the lock, which would be taken over from a process that looks gone.
 *
 * @throws StartError when there is such a server.
 */
export async function refuseUnseenServer(clusterDirectory: string): Promise<void> {
  const file = readServerFile(clusterDirectory);
  if (!file || isServerOf(file.pid, clusterDirectory)) return;
  // A socket is a file, so it answers across containers; one that a dead server left behind refuses.
  if (!(await acceptsConnections(join(clusterDirectory, `.s.PGSQL.${file.port}`)))) return;
  throw new StartError(
    `Another database server, which this process cannot see, runs on ${clusterDirectory}; stop it (look for another container with the same files), or set DATA_DIR to another directory.`,
  );
}

/**
 * Ends the server that a killed process of ours left running on this cluster. It is not taken over: its settings and
 * its end would not be ours. Only the holder of the data directory's lock may call this.
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
 * Removes the `postmaster.pid` of a dead server whose process id is still taken: by a zombie that nobody collects, or
 * by a later process, as in a container, where the ids repeat at every start. PostgreSQL takes either for the server
 * itself and would refuse to start. Only when no process works in the cluster; a free id it judges better itself.
 */
export function removeFileOfDeadServer(clusterDirectory: string): void {
  const file = readServerFile(clusterDirectory);
  if (process.platform !== 'linux' || !file || !existsSync(`/proc/${file.pid}`)) return;
  if (!isServerOf(file.pid, clusterDirectory) && !hasProcessIn(clusterDirectory)) {
    rmSync(serverFilePath(clusterDirectory), { force: true });
  }
}

/** A server's children work in the cluster too, and may outlive it for as long as their statement runs. */
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

/** A server's working directory is its cluster; elsewhere than on Linux its command line names it. */
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
