import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { randomUUID } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { errorCode, reasonOf, StartError } from '../../kit/start-error.ts';

/**
 * Creates the data directory if it is missing and returns its real path. Only this user can read it; when that is root, the
 * database server runs as another user, which has to be able to enter.
 *
 * @throws StartError when it cannot be created or written to.
 */
export function openDataDirectory(path: string): string {
  try {
    const isRoot = process.geteuid?.() === 0;
    makeDirectory(resolve(path), isRoot ? 0o711 : 0o700);
    const directory = realpathSync(path);
    if (!statSync(directory).isDirectory()) throw fileInstead(path);
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
    if (isRoot) chmodSync(directory, (statSync(directory).mode & 0o7777) | 0o111);
    return directory;
  } catch (error) {
    if (error instanceof StartError) throw error;
    if (errorCode(error) === 'ENOTDIR') throw fileInstead(path);
    throw unusableDataDirectory(path, error);
  }
}

function fileInstead(path: string): StartError {
  return new StartError(`The data directory ${path} is a file, or lies below one; set DATA_DIR to a directory.`);
}

/** A failed file system call in the data directory, as an error for the operator. */
export function unusableDataDirectory(directory: string, error: unknown): StartError {
  const path = error instanceof Error && 'path' in error ? ` at ${String(error.path)}` : '';
  return new StartError(
    `The data directory ${directory} cannot be used (${reasonOf(error)}${path}); make it writable, or set DATA_DIR to another directory.`,
    { cause: error },
  );
}

/** A failed system call, for example on a full disk or a mount without owners. */
export function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

/**
 * Writes a file that only this user can read. It is synced to disk before it gets its name, so that a crash or a power cut never
 * leaves a part of it.
 */
export function writePrivateFile(path: string, content: string): void {
  renameSync(writeDraft(path, content), path);
}

/** As `writePrivateFile`, but returns false when the file exists. Of several concurrent processes one creates it. */
export function createPrivateFile(path: string, content: string): boolean {
  const draft = writeDraft(path, content);
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    // Without hard links there is a short race between the check and the renaming.
    if (existsSync(path)) return false;
    renameSync(draft, path);
    return true;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Syncs the names of a directory's files, so that a file that was renamed stays so. */
export function syncDirectory(directory: string): void {
  const handle = openSync(directory, 'r');
  fsyncSync(handle);
  closeSync(handle);
}

function writeDraft(path: string, content: string): string {
  const draft = `${path}.${randomUUID()}`;
  const file = openSync(draft, 'wx', 0o600);
  try {
    writeFileSync(file, content);
    fsyncSync(file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  return draft;
}

/** Node's recursive mkdir never returns where a parent refuses with ENOENT, as /proc does. */
function makeDirectory(path: string, mode: number): void {
  if (existsSync(path)) return;
  makeDirectory(dirname(path), mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process was faster.
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}
