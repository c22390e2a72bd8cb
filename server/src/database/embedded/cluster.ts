import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  fsyncSync,
  lchownSync,
  mkdirSync,
  openSync,
  closeSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { errorCode, StartError } from '../../kit/start-error.ts';
import type { Binaries } from './binaries.ts';
import { syncDirectory } from './data-directory.ts';
import { findClosedDirectory, type ServerAccount } from './server-account.ts';

/** The data files of the bundled PostgreSQL (`PGDATA`) in the data directory. */
export interface Cluster {
  directory: string;
  password: string;
}

export const adminRoleName = 'dalasi_admin';

const runProgram = promisify(execFile);
/** How the name of a cluster begins that is not complete yet. */
export const draftPrefix = 'postgres.new-';

// Written into postgresql.conf once, so that an operator may tune them there. 120 connections are the pools of a few
// processes with room for a person; compiling queries just in time only delays short ones.
const initialSettings = {
  shared_buffers: '128MB',
  max_connections: '120',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

export function clusterDirectoryIn(dataDirectory: string): string {
  return join(dataDirectory, 'postgres');
}

/** Whether the data directory has a database. */
export function hasCluster(dataDirectory: string): boolean {
  return existsSync(clusterDirectoryIn(dataDirectory));
}

/**
 * Opens the cluster of the data directory, or creates it. It is created under another name and renamed when complete, so an
 * interrupted creation is never taken for a cluster; the next start removes its remains.
 *
 * @throws StartError when it cannot be created, is of another major version, or its password is missing.
 */
export async function prepareCluster(options: {
  dataDirectory: string;
  account: ServerAccount | undefined;
  binaries: Binaries;
  durable: boolean;
}): Promise<Cluster> {
  const { dataDirectory, account, binaries } = options;
  const directory = clusterDirectoryIn(dataDirectory);
  removeDrafts(dataDirectory);
  if (!existsSync(directory)) {
    const password = readPassword(dataDirectory) ?? writePassword(dataDirectory);
    await initialize(directory, password, options);
    return { directory, password };
  }
  refuseOtherVersion(directory, binaries.version);
  const stats = statSync(directory);
  if (account && stats.uid !== account.uid) changeOwner(account, directory);
  // PostgreSQL refuses a directory that others can read, as after a copy without its permissions.
  if ((stats.mode & 0o077) !== 0) chmodSync(directory, 0o700);
  const password = readPassword(dataDirectory);
  if (password !== undefined) return { directory, password };
  throw new StartError(
    `The database's password, ${passwordPath(dataDirectory)}, is missing; restore it from a backup of the data directory.`,
  );
}

/**
 * The path by which the server's programs get the cluster. Where the account cannot enter a parent directory (a checkout in root's
 * home), the process enters the directory before it drops root's privileges, and this path leads back to it.
 */
export function clusterPathFor(directory: string, account: ServerAccount | undefined): string {
  if (!account || process.platform !== 'linux') return directory;
  return findClosedDirectory(directory, account) === undefined ? directory : '/proc/self/cwd';
}

/** Options for starting PostgreSQL's programs. They do not inherit the environment, which holds keys. */
export function programOptions(directory: string, account: ServerAccount | undefined) {
  const env: NodeJS.ProcessEnv = { LC_ALL: 'C', TZ: 'UTC' };
  for (const name of ['PATH', 'SystemRoot', 'TEMP', 'TMPDIR']) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  return {
    cwd: directory,
    env,
    ...(account ? { uid: account.uid, gid: account.gid } : {}),
  };
}

async function initialize(
  directory: string,
  password: string,
  { dataDirectory, account, binaries, durable }: Parameters<typeof prepareCluster>[0],
): Promise<void> {
  const draft = join(dataDirectory, `${draftPrefix}${randomUUID()}`);
  const passwordFile = join(draft, 'password');
  mkdirSync(join(draft, 'cluster'), { recursive: true, mode: 0o700 });
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (account)
    for (const path of [draft, join(draft, 'cluster'), passwordFile]) chownSync(path, account.uid, account.gid);
  const path = clusterPathFor(join(draft, 'cluster'), account);
  const settings = Object.entries(initialSettings).flatMap(([name, value]) => ['--set', `${name}=${value}`]);
  // initdb ends with this process; the next start removes the draft.
  const killOnExit = (): void => void running?.child.kill();
  let running: ReturnType<typeof runProgram> | undefined;
  process.once('exit', killOnExit);
  try {
    running = runProgram(
      binaries.initdb,
      [
        ...['-D', path, '--username', adminRoleName, '--pwfile', `${path}/../password`],
        ...['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
        ...['--auth-host=scram-sha-256', '--auth-local=scram-sha-256', '--data-checksums'],
        ...(durable ? [] : ['--no-sync']),
        ...settings,
      ],
      programOptions(join(draft, 'cluster'), account),
    );
    await running;
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw new StartError(`The database could not be created in ${directory}: ${programFailureReason(error)}`, {
      cause: error,
    });
  } finally {
    process.removeListener('exit', killOnExit);
  }
  renameSync(join(draft, 'cluster'), directory);
  rmSync(draft, { recursive: true, force: true });
  if (durable) syncDirectory(dataDirectory);
}

function programFailureReason(error: unknown): string {
  const code = errorCode(error);
  if (code === 'ENOENT') return "PostgreSQL's program does not run on this system (it needs glibc); set DATABASE_URL.";
  if (code === 'EPERM')
    return 'this process may not change to another user; start as an ordinary user, or set DATABASE_URL.';
  const output = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
  return lastLineOf(output) ?? (error instanceof Error ? error.message : String(error));
}

/** The most informative line: PostgreSQL's programs print the reason last. */
export function lastLineOf(output: string): string | undefined {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  return lines.findLast((line) => /FATAL|PANIC|error/i.test(line)) ?? lines.at(-1);
}

/** An initdb that outlived its killed parent may still write into a draft; then a later start removes it. */
function removeDrafts(dataDirectory: string): void {
  for (const name of readdirSync(dataDirectory)) {
    if (!name.startsWith(draftPrefix)) continue;
    try {
      rmSync(join(dataDirectory, name), { recursive: true, force: true });
    } catch (error) {
      if (!['ENOTEMPTY', 'EBUSY'].includes(errorCode(error) ?? '')) throw error;
    }
  }
}

function refuseOtherVersion(directory: string, version: string): void {
  let found: string;
  try {
    found = readFileSync(join(directory, 'PG_VERSION'), 'utf8').trim();
  } catch (error) {
    throw new StartError(
      `${directory} exists but is not a PostgreSQL data directory; move it away, or set DATA_DIR to another directory.`,
      { cause: error },
    );
  }
  const bundled = version.split('.')[0];
  if (found === bundled) return;
  throw new StartError(
    `The database in ${directory} was created by PostgreSQL ${found}, and this program bundles ${bundled}; start the earlier program, dump the database, and load it into a new data directory.`,
  );
}

/** Gives the cluster's files to the account that its server runs as. */
export function changeOwner(account: ServerAccount, directory: string): void {
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    lchownSync(join(entry.parentPath, entry.name), account.uid, account.gid);
  }
  chownSync(directory, account.uid, account.gid);
}

function passwordPath(dataDirectory: string): string {
  return join(dataDirectory, 'postgres-password');
}

/** The password of the cluster's superuser; undefined where there is none. */
export function readPassword(dataDirectory: string): string | undefined {
  try {
    return readFileSync(passwordPath(dataDirectory), 'utf8').trim() || undefined;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Synced to disk before the cluster that uses it is created. */
function writePassword(dataDirectory: string): string {
  const password = randomBytes(24).toString('base64url');
  const path = passwordPath(dataDirectory);
  const file = openSync(path, 'w', 0o600);
  writeFileSync(file, `${password}\n`);
  fsyncSync(file);
  closeSync(file);
  return password;
}
