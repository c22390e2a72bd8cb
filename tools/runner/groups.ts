import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What runs the files of a group in their process. */
export const groupProgram = join(import.meta.dirname, 'group.ts');

// Enough that loading the application, which takes as long as five tests, hardly counts; few enough that the last group
// keeps no processor waiting for the others.
const filesPerGroup = 16;

// Loading the browser's library takes a process 2.5 s of processor time, and such a file runs for up to half a minute: with
// more of them in one process the whole run would wait for it at its end.
const browserFilesPerGroup = 5;

// These start processes, which are long and may leave others behind, or change or measure their own.
const ownProcess =
  /(harness\/(process|crash-\w+|crashing-service|database-server)|cli-process\.corpus)\.ts'|node:child_process|runNode|setDefaultCACertificates|queryObjects|memoryUsage|\bgc\(/;

const usesBrowser = /harness\/browser\.ts'/;

/**
 * Divides test files into those that share a process, in their order, and those that need one to themselves. Those and the
 * ones with a browser come first because they are the long ones.
 */
export function groupFiles(files: readonly string[]): string[][] {
  const [alone, browser, together]: [string[], string[], string[]] = [[], [], []];
  for (const file of files) {
    const text = readFileSync(file, 'utf8');
    if (ownProcess.test(text)) alone.push(file);
    else if (usesBrowser.test(text)) browser.push(file);
    else together.push(file);
  }
  return [...inGroups(browser, browserFilesPerGroup), ...inGroups(alone, 1), ...inGroups(together, filesPerGroup)];
}

function inGroups(files: readonly string[], filesMax: number): string[][] {
  const count = Math.ceil(files.length / filesMax);
  return Array.from({ length: count }, (_, index) => files.slice(index * filesMax, (index + 1) * filesMax));
}
