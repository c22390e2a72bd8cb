import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { listLongTestFiles, listTestFiles } from './run-tests.ts';

test('the test command leaves out the long tests; those run with the tests that ask how much to try', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dalasi-runner-'));
  try {
    mkdirSync(join(folder, 'test/harness'), { recursive: true });
    const files = {
      'test/usual.test.ts': `import './harness/other.ts';`,
      'test/asks.test.ts': `import { effort } from './harness/effort.ts';`,
      'test/crash.test.ts': `import { testCrashStory } from './harness/crash-story.ts';`,
      'test/much.long.test.ts': '',
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    assert.deepEqual(listTestFiles(folder), ['test/asks.test.ts', 'test/crash.test.ts', 'test/usual.test.ts']);
    assert.deepEqual(listLongTestFiles(folder), ['test/asks.test.ts', 'test/crash.test.ts', 'test/much.long.test.ts']);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
