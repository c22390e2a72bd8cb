import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Progress } from './progress.ts';

test('the time that is left is judged by what each file took the last time', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dalasi-progress-'));
  const written: string[] = [];
  const screen = { write: (text: string) => written.push(text) };
  try {
    const [short, long] = [join(folder, 'short.test.ts'), join(folder, 'long.test.ts')];
    const first = new Progress(folder, [short, long], screen);
    assert.equal(first.remainingMs(500), undefined, 'nothing is known');
    first.fileEnded(short, 1_000, true);
    assert.equal(first.remainingMs(1_000), 1_000, 'files that nobody knows count the same');
    first.fileEnded(long, 9_000, false);
    first.end();
    assert.match(written.join(''), /^2 of 2 test files, 1 failed, 0 s elapsed\n$/);

    const second = new Progress(folder, [short, long], screen);
    second.fileEnded(short, 1_000, true);
    assert.equal(second.remainingMs(1_000), 9_000);
    second.fileEnded(short, 1_000, true);
    assert.equal(second.remainingMs(1_000), 9_000, 'a file that runs again counts once');
    second.end();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
