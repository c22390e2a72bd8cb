import { readFileSync } from 'node:fs';

// Enough that loading the application, which takes as long as five tests, hardly counts; few enough that the last group
// keeps no processor waiting for the others.
const filesPerGroup = 8;

/**
 * Divides test files into those that share a process, in their order. A file that starts processes itself has one to
 * itself and comes first: these are the long ones, and what they leave behind when they fail must not fail others.
 */
export function groupFiles(files: readonly string[]): string[][] {
  const alone = files.filter(startsProcesses);
  const together = files.filter((file) => !alone.includes(file));
  const groups = alone.map((file) => [file]);
  for (let first = 0; first < together.length; first += filesPerGroup) {
    groups.push(together.slice(first, first + filesPerGroup));
  }
  return groups;
}

function startsProcesses(file: string): boolean {
  const text = readFileSync(file, 'utf8');
  return /harness\/(process|crash-\w+|crashing-service|browser|database-server)\.ts'|node:child_process|runNode/.test(
    text,
  );
}
