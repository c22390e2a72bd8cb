import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The program that runs the files of a group. */
export const groupProgram = join(import.meta.dirname, 'group.ts');

// Enough that loading the application, which takes as long as five tests, hardly matters; few enough that no processor idles
// long while the last group runs.
const filesPerGroup = 24;

// Loading the browser's library takes 2.5 s of processor time, and such a file runs for up to half a minute: with more of them in
// one process the whole run would wait for it at the end.
const browserFilesPerGroup = 5;

// These start processes, which takes long and may leave some behind, or they change or measure their own process.
const ownProcess =
  /(harness\/(process|crash-\w+|crashing-service|database-server)|cli-process\.corpus)\.ts'|node:child_process|runNode|setDefaultCACertificates|queryObjects|memoryUsage|\bgc\(/;

const usesBrowser = /harness\/browser\.ts'/;

/**
 * Divides test files into groups that share a process, and files that need a process to themselves. Those with a browser come
 * first, because they take long. Then the others alternate with the files that start processes, which mostly wait.
 */
export function groupFiles(files: readonly string[]): string[][] {
  const [alone, browser, together]: [string[], string[], string[]] = [[], [], []];
  for (const file of files) {
    const text = readFileSync(file, 'utf8');
    if (ownProcess.test(text)) alone.push(file);
    else if (usesBrowser.test(text)) browser.push(file);
    else together.push(file);
  }
  return [
    ...inGroups(browser, browserFilesPerGroup),
    ...alternate(inGroups(alone, 1), inGroups(together, filesPerGroup)),
  ];
}

/** Both lists as one, in order and spread evenly. */
function alternate<Item>(some: readonly Item[], others: readonly Item[]): Item[] {
  const placed = [some, others].flatMap((list) =>
    list.map((item, index) => ({ item, position: (index + 0.5) / list.length })),
  );
  return placed.toSorted((one, other) => one.position - other.position).map(({ item }) => item);
}

function inGroups(files: readonly string[], filesMax: number): string[][] {
  const count = Math.ceil(files.length / filesMax);
  return Array.from({ length: count }, (_, index) => files.slice(index * filesMax, (index + 1) * filesMax));
}
