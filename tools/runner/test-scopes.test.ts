import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { after, before, test } from 'node:test';
import { runNode } from './command.ts';
import { testScopesProgram } from './test-report.ts';

// Each of the failures happens when the function of its test has long returned a promise, and outside of that promise.
const file = `
import assert from 'node:assert/strict';
import { executionAsyncId } from 'node:async_hooks';
import { describe, test } from 'node:test';

await null;
const later = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });
const fail = (name) => { throw new Error(name + ' failed'); };

test('rejection', async () => { void later(1).then(() => fail('rejection')); await later(50); });
test('timer', async () => { setTimeout(fail, 1, 'timer'); await later(50); });
test('immediate', async () => { setImmediate(fail, 'immediate'); await later(50); });
test('tick', async () => { process.nextTick(fail, 'tick'); await later(50); });
test('outer', async () => { await null; await test('inner', async () => { await later(1); fail('inner'); }); });
describe('suite', async () => {
  await later(1);
  test('test of the suite', async () => { await null; fail('test of the suite'); });
});
test('no promise has an id', async () => { await null; assert.equal(executionAsyncId(), 0); });
`;

let folder = '';
let output = '';

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dalasi-scopes-'));
  const path = join(folder, 'some.mjs');
  writeFileSync(path, file);
  ({ output } = await runNode(
    ['--import', pathToFileURL(testScopesProgram).href, '--test-reporter=tap', path],
    folder,
  ));
});

after(() => rmSync(folder, { recursive: true, force: true }));

for (const name of ['rejection', 'timer', 'immediate', 'tick', 'inner', 'test of the suite']) {
  test(`a failure outside of the promise of its test fails that test: ${name}`, () => {
    const lines = output.split('\n');
    const at = lines.findIndex((line) => line.trim().startsWith('not ok') && line.endsWith(` - ${name}`));
    assert(at >= 0, output);
    assert(
      lines.slice(at, at + 8).some((line) => line.includes(`${name} failed`)),
      output,
    );
  });
}

test('a test that starts in another one or in a suite that waited belongs to it', () => {
  assert.match(output, /^ {4}not ok \d+ - inner$/m);
  assert.match(output, /^ {4}not ok \d+ - test of the suite$/m);
});

test('Node hooks no promise, and nothing but the planned failures fails', () => {
  assert.match(output, /^ok \d+ - no promise has an id$/m);
  // With the outer test and the suite, which fail with theirs.
  assert.match(output, /^# fail 7$/m, output);
});
