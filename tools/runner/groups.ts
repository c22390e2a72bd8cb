import { readFileSync } from 'node:fs';

/** Test files by what their process needs. Those of a kind can share one. */
export interface GroupedFiles {
  browser: string[];
  /** They start processes, and mostly wait for them. */
  starting: string[];
  /** They change or measure their own process, so each has one to itself. */
  alone: string[];
  others: string[];
}

const needsOwnProcess = /setDefaultCACertificates|queryObjects|memoryUsage|\bgc\(/;
const startsProcesses =
  /(harness\/(process|crash-\w+|crashing-service|database-server)|cli-process\.corpus)\.ts'|node:child_process|runNode/;
const usesBrowser = /harness\/browser(-window)?\.ts'/;

export function groupFiles(files: readonly string[]): GroupedFiles {
  const grouped: GroupedFiles = { browser: [], starting: [], alone: [], others: [] };
  for (const file of files) grouped[kindOf(readFileSync(file, 'utf8'))].push(file);
  return grouped;
}

function kindOf(text: string): keyof GroupedFiles {
  if (needsOwnProcess.test(text)) return 'alone';
  if (startsProcesses.test(text)) return 'starting';
  return usesBrowser.test(text) ? 'browser' : 'others';
}
