import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listLongTestFiles } from '../runner/run-tests.ts';
import { promiseCounts } from './all-promises.ts';
import { stateOf, type PromiseGroup, type ServicePromise } from './promise.ts';
import { testTitles } from './test-titles.ts';

const gaugeFiles = [
  'server/src/app/gauges.ts',
  'server/src/app/money-gauges.ts',
  'server/src/app/database-gauges.ts',
  'server/src/app/page-scripts/script-comparisons.ts',
  'server/src/app/synthetic-payment.ts',
  'server/src/http/metrics.ts',
];

/** What of the promises is not so any more: a sentence for each test, part or metric that is gone, and each promise without one. */
export function findPromiseFaults(repository: string, groups: readonly PromiseGroup[]): string[] {
  const promises = groups.flatMap((group) => group.promises);
  const read = (path: string): string =>
    existsSync(join(repository, path)) ? readFileSync(join(repository, path), 'utf8') : '';
  const evidence = {
    read,
    longFiles: new Set(listLongTestFiles(repository)),
    results: read('benchmarks/results.md'),
    metrics: gaugeFiles.map(read).join(''),
  };
  return [...findMissing(promises), ...promises.flatMap((promise) => faultsOf(promise, evidence))];
}

function findMissing(promises: readonly ServicePromise[]): string[] {
  const expected = Object.entries(promiseCounts).flatMap(([letter, count]) =>
    Array.from({ length: count }, (_, index) => `${letter}${index + 1}`),
  );
  const ids = promises.map(({ id }) => id);
  return expected.flatMap((id) => {
    const times = ids.filter((each) => each === id).length;
    return times === 1 ? [] : [`${id} stands ${times} times`];
  });
}

interface Evidence {
  read: (path: string) => string;
  longFiles: ReadonlySet<string>;
  results: string;
  metrics: string;
}

function faultsOf(promise: ServicePromise, { read, longFiles, results, metrics }: Evidence): string[] {
  const { id, gates, tests = {}, benchmarks = [], metrics: watched = [] } = promise;
  const faults: string[] = [];
  for (const [path, titles] of Object.entries(tests)) {
    const source = read(path);
    if (source === '') faults.push(`${id}: ${path} does not exist`);
    const present = testTitles(source);
    if (titles.length === 0) faults.push(`${id}: ${path} is named without a test`);
    for (const title of titles) if (!present.has(title)) faults.push(`${id}: ${path} has no test “${title}”`);
  }
  for (const name of benchmarks) {
    if (!results.includes(`<!-- part ${name} `)) faults.push(`${id}: benchmarks/results.md has no part ${name}`);
  }
  for (const name of watched) if (!metrics.includes(`'${name}'`)) faults.push(`${id}: no metric is called ${name}`);
  const isHeld = stateOf(promise) === 'held';
  const hasEvidence = Object.keys(tests).length + benchmarks.length > 0;
  if (hasEvidence === (stateOf(promise) === 'open')) faults.push(`${id}: is open, or names what holds it`);
  const isLong = benchmarks.length > 0 || Object.keys(tests).some((path) => longFiles.has(path));
  if (isHeld && gates.includes('long') && !isLong) faults.push(`${id}: no test of the long run holds it`);
  if (isHeld && gates.includes('production') && watched.length === 0) faults.push(`${id}: no metric holds it`);
  return faults;
}
