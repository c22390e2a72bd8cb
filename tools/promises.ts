/**
 * Writes docs/promises.md: what the service promises and what holds each promise.
 *
 *     node tools/promises.ts              writes the page
 *     node tools/promises.ts --check      fails where it is out of date
 *
 * Either fails when a test, a benchmark or a metric that a promise names is gone, or when a promise has no entry.
 */
import { join } from 'node:path';
import { promiseGroups } from './promises/all-promises.ts';
import { findPromiseFaults } from './promises/find-faults.ts';
import { isPageCurrent, writePromises } from './promises/write-promises.ts';

const repository = join(import.meta.dirname, '..');
const faults = findPromiseFaults(repository, promiseGroups);
if (!process.argv.includes('--check')) writePromises(repository);
else if (!isPageCurrent(repository)) {
  faults.push('docs/promises.md is not what tools/promises says. Run: node tools/promises.ts');
}
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
