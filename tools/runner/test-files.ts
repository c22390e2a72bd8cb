import { globSync } from 'node:fs';
import { relative } from 'node:path';
import { run } from 'node:test';
import { FileWatch } from './file-watch.ts';
import type { FileOutcome } from './outcome.ts';

/** All tests of the repository, in one order on every machine. */
export function listTestFiles(repository: string): string[] {
  return globSync('{server/src,test,tools}/**/*.test.ts', { cwd: repository }).toSorted();
}
