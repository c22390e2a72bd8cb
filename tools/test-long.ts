/**
 * The long tests: crash points twenty times each, random cases by the hundred thousand.
 *
 *     npm run test:long                                          every part in turn, each within an hour
 *     npm run test:long -- walks                                 one part (tools/runner/long-parts.ts)
 *     npm run test:long -- --again                               also what has passed on these sources
 *     npm run test:long -- test/stories/crash-payment.test.ts    only these files
 *
 * These are the files named `*.long.test.ts`, and those that ask test/harness/effort.ts how much to try. After each part the last
 * figures of its files are written to benchmarks/long-run.json and docs/promises.md. A run that was interrupted continues: files
 * that have passed on the same sources are left out. The last line is that of the test command.
 */
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { writePromises } from './promises/write-promises.ts';
import { hashOfSources, readLongFigures, recordLongFigures } from './runner/long-figures.ts';
import { longParts, partOf } from './runner/long-parts.ts';
import { listLongTestFiles, runTests } from './runner/run-tests.ts';

const minuteMs = 60_000;
// The longest test walks through thousands of operations.
const partMinutes = 60;

const repository = join(import.meta.dirname, '..');
const chosen = process.argv.slice(2).filter((word) => word !== '--again');
const all = listLongTestFiles(repository);
const isFile = (word: string): boolean => existsSync(word) && statSync(word).isFile();
const unknown = chosen.filter((word) => !isFile(word) && !longParts.some(({ name }) => name === word));
if (unknown.length > 0) {
  console.error(`${unknown.join(', ')}: no file and no part. Parts: ${longParts.map(({ name }) => name).join(', ')}.`);
  process.exit(2);
}

const chosenFiles = chosen.filter(isFile);
const parts = longParts.filter(({ name }) => chosen.length === 0 || chosen.includes(name));
const sources = hashOfSources(repository);
const last = readLongFigures(repository);
const isDone = (path: string): boolean =>
  !process.argv.includes('--again') && last[path]?.sources === sources && last[path].isOk;

// Test processes get this one's settings.
process.env['TEST_EFFORT'] = 'long';
const sum = { passed: 0, failed: 0, done: 0 };
if (chosenFiles.length > 0) await run('the files', chosenFiles);
if (parts.length < longParts.length || chosen.length === 0) {
  for (const { name, minutesMax } of parts) {
    const files = all.filter((path) => partOf(path) === name);
    const open = files.filter((path) => !isDone(path));
    sum.done += files.length - open.length;
    if (open.length > 0) await run(`part ${name}`, open, minutesMax);
  }
}
if (sum.done > 0) console.log(`${sum.done} files have passed on these sources before; --again runs them too`);
if (sum.passed + sum.done === 0 || sum.failed > 0) process.exitCode = 1;
console.log(`${sum.passed} passed, ${sum.failed} failed`);

async function run(what: string, files: readonly string[], minutesMax = partMinutes): Promise<void> {
  console.log(`\n${what}: ${files.length} files`);
  const limitMs = minutesMax * minuteMs;
  const verdict = await runTests(
    repository,
    files.map((file) => resolve(repository, file)),
    { testMs: limitMs, lingerMs: 20_000, runMs: limitMs },
  );
  sum.passed += verdict.passed;
  sum.failed += verdict.failed;
  recordLongFigures(repository, verdict.files, new Date().toISOString().slice(0, 10));
  writePromises(repository);
}
