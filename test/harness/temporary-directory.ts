import { accessSync, constants, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const memoryDirectory = '/dev/shm';
// A cluster takes 40 MB, a database 8 MB, its log at most 256 MB.
const bytesFreeMin = 2 * 1024 ** 3;

/**
 * Where tests put databases: in memory if there is enough, unless TMPDIR is set. A database is 300 files; after some
 * hundred databases were dropped, a clone on ext4 without a journal took 360 ms instead of 18 ms.
 */
export function fastTemporaryDirectory(): string {
  if (process.env['TMPDIR'] || process.platform !== 'linux') return tmpdir();
  try {
    accessSync(memoryDirectory, constants.W_OK);
    const { bavail, bsize } = statfsSync(memoryDirectory);
    return bavail * bsize >= bytesFreeMin ? memoryDirectory : tmpdir();
  } catch {
    return tmpdir();
  }
}
