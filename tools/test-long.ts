/**
 * The long tests: crash points twenty times each, random cases by the hundred thousand.
 *
 *     npm run test:long                                          all of them, which takes an hour or more
 *     npm run test:long -- test/stories/crash-payment.test.ts    only these files
 *
 * These are the files named `*.long.test.ts`, and those that ask test/harness/effort.ts how much to try. The last line
 * is that of the test command.
 */
import { join, resolve } from 'node:path';
import { listLongTestFiles, runTests } from './runner/run-tests.ts';

// The longest test walks through thousands of operations.
const limits = { testMs: 3 * 60 * 60 * 1_000, lingerMs: 20_000 };

const repository = join(import.meta.dirname, '..');
const chosen = process.argv.slice(2);
const files = chosen.length > 0 ? chosen : listLongTestFiles(repository);
// Test files run in processes of their own, which are given this one's settings.
process.env['TEST_EFFORT'] = 'long';
const { passed, failed } = await runTests(
  repository,
  files.map((file) => resolve(repository, file)),
  limits,
);
if (passed === 0 || failed > 0) process.exitCode = 1;
console.log(`${passed} passed, ${failed} failed`);
