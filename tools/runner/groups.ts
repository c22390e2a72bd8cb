import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What runs the files of a group in their process. */
export const groupProgram = join(import.meta.dirname, 'group.ts');

// Enough that loading the application, which takes as long as five tests, hardly counts; few enough that the last group
// keeps no processor waiting for the others.
const filesPerGroup = 16;

// These start processes, which are long and may leave others behind, or change or measure their own.
const ownProcess =
  /(harness\/(process|crash-\w+|crashing-service|browser|database-server)|cli-process\.corpus)\.ts'|node:child_process|runNode|setDefaultCACertificates|queryObjects|memoryUsage|\bgc\(/;

/**
 * Divides test files into those that share a process, in their order, and those that need one to themselves, which come
 * first because they are the long ones.
 */
export function groupFiles(files: readonly string[]): string[][] {
  const alone = files.filter((file) => ownProcess.test(readFileSync(file, 'utf8')));
  const together = files.filter((file) => !alone.includes(file));
  const groups = alone.map((file) => [file]);
  for (let first = 0; first < together.length; first += filesPerGroup) {
    groups.push(together.slice(first, first + filesPerGroup));
  }
  return groups;
}
