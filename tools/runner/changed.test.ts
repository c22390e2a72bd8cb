import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { listAffected } from './changed.ts';

describe('the tests that a change can touch', () => {
  let folder: string;
  const testFiles = ['server/src/a.test.ts', 'server/src/b.test.ts', 'test/start.test.ts'];

  const write = (file: string, text: string): void => {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  const git = (...args: string[]): void => {
    const who = ['-c', 'user.name=test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false'];
    execFileSync('git', [...who, ...args], { cwd: folder, stdio: 'ignore' });
  };

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'dalasi-changed-'));
    git('init', '-b', 'main');
    write('CHANGELOG.md', 'old');
    write('server/src/deep.ts', 'export const deep = 1;');
    write('server/src/a.ts', `export { deep } from './deep.ts';`);
    write('server/src/main.ts', `import { deep } from './deep.ts'; console.log(deep);`);
    write('server/src/a.test.ts', `import './a.ts';`);
    write('server/src/b.test.ts', '');
    write('test/harness/process.ts', `export const program = 'server/src/main.ts';`);
    write('test/start.test.ts', `import './harness/process.ts';`);
    git('add', '.');
    git('commit', '-m', 'start');
    git('checkout', '-b', 'branch');
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('are those that import it through others, or start a program that does, committed or not', () => {
    write('CHANGELOG.md', 'new');
    assert.deepEqual(listAffected(folder, testFiles).files, []);
    write('server/src/deep.ts', 'export const deep = 2;');
    assert.deepEqual(listAffected(folder, testFiles).files, ['server/src/a.test.ts', 'test/start.test.ts']);
    git('commit', '-am', 'change');
    assert.deepEqual(listAffected(folder, testFiles).files, ['server/src/a.test.ts', 'test/start.test.ts']);
  });

  test('are all of them when the change is no source file, or took one away', () => {
    write('server/migrations/0001-first.sql', '');
    const { files, reason } = listAffected(folder, testFiles);
    assert.deepEqual(files, testFiles);
    assert.match(reason, /server\/migrations\/0001-first\.sql can touch any test/);
    rmSync(join(folder, 'server/migrations'), { recursive: true });
    rmSync(join(folder, 'server/src/a.ts'));
    assert.deepEqual(listAffected(folder, testFiles).files, testFiles);
  });
});
