/**
 * The project's test command.
 *
 *     npm test                            every check, then every test
 *     npm test -- server/src/a.test.ts    only these test files, or those of these folders
 *     npm test -- --changed               every check, then the tests that the changes since main can touch
 *     npm run check                       only the checks
 *     npm test -- --times …               any of these, and a table of the processor time of each test file
 *
 * Its last line is `N passed, N failed`; it ends with 1 when a check or a test failed, or when there was no test.
 */
import { statSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { listAffected } from './runner/changed.ts';
import { runChecks, typesCheckName } from './runner/checks.ts';
import { defaultLimits, listTestFiles, runTests } from './runner/run-tests.ts';
import type { Verdict } from './runner/test-report.ts';

const repository = join(import.meta.dirname, '..');
const timesOption = '--times';
const chosen = process.argv.slice(2).filter((word) => word !== timesOption);
const limits = { ...defaultLimits, showsTimes: process.argv.includes(timesOption) };
const failedChecks = chosen.length === 0 || chosen[0]?.startsWith('--') ? await runChecks(repository) : [];
if (failedChecks.length > 0) process.exitCode = 1;

if (chosen[0] !== '--checks') {
  const { passed, failed } =
    chosen.length > 0 && chosen[0] !== '--changed'
      ? await runTests(repository, chosen.flatMap(filesOf), limits)
      : await testMany(chosen[0] === '--changed');
  if (failedChecks.length > 0) console.log(`Checks that failed: ${failedChecks.join(', ')}.`);
  if (failed > 0 || (passed === 0 && chosen[0] !== '--changed')) process.exitCode = 1;
  console.log(`${passed} passed, ${failed} failed`);
}

async function testMany(onlyChanged: boolean): Promise<Omit<Verdict, 'files'>> {
  const files = listTestFiles(repository);
  if (onlyChanged) {
    const { files: affected, reason } = listAffected(repository, files);
    console.log(reason);
    if (affected.length === 0) return { passed: 0, failed: 0 };
    files.splice(0, files.length, ...affected);
  }
  if (!failedChecks.includes(typesCheckName)) return await runTests(repository, files.map(pathOf), limits);
  console.log('The tests did not run, because the types are wrong. Each file counts as one that failed.');
  return { passed: 0, failed: files.length };
}

/** The test files that an argument names. Ends the process where it names nothing. */
function filesOf(argument: string): string[] {
  const path = pathOf(argument);
  const found = statSync(path, { throwIfNoEntry: false });
  const files = found?.isDirectory()
    ? listTestFiles(repository)
        .map(pathOf)
        .filter((file) => file.startsWith(path + sep))
    : [path];
  if (found && files.length > 0) return files;
  console.error(`${argument} is no test file, and no folder that has one.`);
  process.exit(1);
}

function pathOf(file: string): string {
  return resolve(repository, file);
}
