/**
 * The project's test command.
 *
 *     npm test                            every check, then every test
 *     npm test -- server/src/a.test.ts    only these test files
 *     npm run check                       only the checks
 *
 * Its last line is `N passed, N failed`; it ends with 1 when a check or a test failed, or when there was no test.
 */
import { join, resolve } from 'node:path';
import { runChecks, typesCheckName } from './runner/checks.ts';
import type { Verdict } from './runner/outcome.ts';
import { listTestFiles, runTests } from './runner/run-tests.ts';

const repository = join(import.meta.dirname, '..');
const chosen = process.argv.slice(2);
const failedChecks = chosen.length === 0 || chosen[0] === '--checks' ? await runChecks(repository) : [];
if (failedChecks.length > 0) process.exitCode = 1;

if (chosen[0] !== '--checks') {
  const { passed, failed } =
    chosen.length > 0 ? await runTests(repository, chosen.map(pathOf)) : await testEverything();
  if (failedChecks.length > 0) console.log(`Checks that failed: ${failedChecks.join(', ')}.`);
  if (passed === 0 || failed > 0) process.exitCode = 1;
  console.log(`${passed} passed, ${failed} failed`);
}

async function testEverything(): Promise<Verdict> {
  const files = listTestFiles(repository);
  if (!failedChecks.includes(typesCheckName)) return await runTests(repository, files.map(pathOf));
  console.log('The tests did not run, because the types are wrong. Each file counts as one that failed.');
  return { passed: 0, failed: files.length };
}

function pathOf(file: string): string {
  return resolve(repository, file);
}
