import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { groupFiles } from './groups.ts';

test('test files share a process in order; those that start processes run alone, between the others', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dalasi-groups-'));
  try {
    const add = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const many = Array.from({ length: 26 }, (_one, index) => add(`${index}.test.ts`, ''));
    const starting = add('starting.test.ts', `import { ProcessWorld } from '../../test/harness/process.ts';`);
    const tool = add('tool.test.ts', `import { CliProcessWorld } from './cli-process.corpus.ts';`);
    const called = add('called.test.ts', `import { CliWorld } from './run-cli.corpus.ts';`);
    const browser = Array.from({ length: 6 }, (_one, index) =>
      add(`page-${index}.test.ts`, `import { launchBrowser } from '../../test/harness/browser.ts';`),
    );
    const groups = groupFiles([...many.slice(0, 5), starting, called, ...browser, tool, ...many.slice(5)]);
    const together = [...many.slice(0, 5), called, ...many.slice(5)];
    assert.deepEqual(groups, [
      browser.slice(0, 5),
      browser.slice(5),
      [starting],
      together.slice(0, 24),
      [tool],
      together.slice(24),
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
