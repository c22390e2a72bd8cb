import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readLongFigures } from '../runner/long-figures.ts';
import { listLongTestFiles } from '../runner/run-tests.ts';
import { promiseGroups } from './all-promises.ts';
import { promisesPage } from './promises-page.ts';

const pagePath = 'docs/promises.md';

/** Writes docs/promises.md. */
export function writePromises(repository: string): void {
  writeFileSync(join(repository, pagePath), currentPage(repository));
}

/** Whether docs/promises.md is what the promises and the last figures say. */
export function isPageCurrent(repository: string): boolean {
  return readFileSync(join(repository, pagePath), { encoding: 'utf8', flag: 'a+' }) === currentPage(repository);
}

function currentPage(repository: string): string {
  return promisesPage(promiseGroups, {
    long: readLongFigures(repository),
    benchmarks: readFileSync(join(repository, 'benchmarks/results.md'), 'utf8'),
    longFiles: new Set(listLongTestFiles(repository)),
  });
}
