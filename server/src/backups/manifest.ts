import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../kit/start-error.ts';

/** What a backup consists of. It is written last, so a backup without it was interrupted. */
export interface Manifest {
  format: 1;
  name: string;
  startedAt: string;
  endedAt: string;
  postgresVersion: string;
  /** The first and the last segment of the log without which the backup is useless. */
  firstSegment: string;
  lastSegment: string;
  /** Directories of the cluster, empty ones included. */
  directories: readonly string[];
  files: readonly { path: string; bytes: number; sha256: string }[];
}

const manifestName = 'manifest.json';
/** How the name of a backup begins that is not complete yet. */
export const unfinishedPrefix = 'new-';

/** Where backups and the archived log are in the backup directory. */
export function backupPaths(backupDirectory: string) {
  return { base: join(backupDirectory, 'base'), log: join(backupDirectory, 'wal') };
}

export function manifestPath(directory: string): string {
  return join(directory, manifestName);
}

export function serializeManifest(manifest: Manifest): string {
  const content = JSON.stringify(manifest);
  return `${content}\n${hashOf(content)}\n`;
}

/** @throws StartError when it is missing or damaged. */
export function readManifest(directory: string): Manifest {
  const path = manifestPath(directory);
  if (!existsSync(path)) throw new StartError(`${directory} is no complete backup: it has no ${manifestName}.`);
  const [content = '', hash] = readFileSync(path, 'utf8').split('\n');
  if (hash !== hashOf(content)) throw new StartError(`${path} is damaged; use another backup.`);
  return JSON.parse(content) as Manifest;
}

/** The manifest, or null where it is damaged. */
export function readWholeManifest(directory: string): Manifest | null {
  try {
    return readManifest(directory);
  } catch (error) {
    if (error instanceof StartError) return null;
    throw error;
  }
}

/** The names of the complete backups, oldest first; a name is its time. */
export function listBackups(backupDirectory: string): string[] {
  const { base } = backupPaths(backupDirectory);
  if (!existsSync(base)) return [];
  return readdirSync(base)
    .filter((name) => !name.startsWith(unfinishedPrefix) && existsSync(manifestPath(join(base, name))))
    .toSorted();
}

/** Of a text, as a file of the manifest has it. */
export function hashOf(content: string): string {
  return createHash('sha256').update(content).digest('hex');
}
