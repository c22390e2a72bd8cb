import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../kit/clock.ts';
import { errorCode, StartError } from '../../kit/start-error.ts';
import { processIdentity } from './process-identity.ts';

export interface DataDirectoryLock {
  release(): void;
}

interface Owner {
  pid: number;
  identity: string;
}

// Two processes that find the same stale lock replace it one after the other, each within one turn of its event loop. After
// this wait the file names the later one, and the earlier one gives up.
const takeoverSettleMs = 100;

/**
 * Gives this process exclusive use of the data directory. The lock of a process that is gone (kill -9, power cut) is taken over.
 *
 * @throws StartError naming the live process that holds the lock.
 */
export async function lockDataDirectory(dataDirectory: string, clock: Clock): Promise<DataDirectoryLock> {
  const path = lockPath(dataDirectory);
  const content = JSON.stringify({ pid: process.pid, identity: processIdentity(process.pid), token: randomUUID() });
  const draft = `${path}.${randomUUID()}`;
  try {
    writeFileSync(draft, content, { mode: 0o600 });
    if (!createFrom(draft, path)) {
      refuseLiveOwner(dataDirectory);
      renameSync(draft, path);
      await clock.sleep(takeoverSettleMs);
      if (readIfThere(path) !== content) return await lockDataDirectory(dataDirectory, clock);
    }
  } finally {
    rmSync(draft, { force: true });
  }
  return {
    release: () => {
      if (readIfThere(path) === content) rmSync(path, { force: true });
    },
  };
}

/** The id of the live process that holds the lock, or undefined. */
export function findLiveOwner(dataDirectory: string): number | undefined {
  const owner = parseOwner(readIfThere(lockPath(dataDirectory)));
  return owner && processIdentity(owner.pid) === owner.identity ? owner.pid : undefined;
}

function lockPath(dataDirectory: string): string {
  return join(dataDirectory, 'dalasi.lock');
}

function refuseLiveOwner(dataDirectory: string): void {
  const pid = findLiveOwner(dataDirectory);
  if (pid === undefined) return;
  throw new StartError(
    `The data directory ${dataDirectory} is in use by process ${pid}; stop that process, or set DATA_DIR to another directory.`,
  );
}

/** Creates the lock with its content atomically; false when there is one, or the file system has no hard links. */
function createFrom(draft: string, path: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (['EEXIST', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(errorCode(error) ?? '')) return false;
    throw error;
  }
}

function parseOwner(text: string | undefined): Owner | undefined {
  try {
    const value: unknown = JSON.parse(text ?? 'null');
    if (typeof value !== 'object' || value === null || !('pid' in value) || !('identity' in value)) return undefined;
    if (typeof value.pid !== 'number' || typeof value.identity !== 'string') return undefined;
    return { pid: value.pid, identity: value.identity };
  } catch {
    // Truncated by a crash of the machine, so its process is gone.
    return undefined;
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
