import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { runNode } from './command.ts';

const repository = join(import.meta.dirname, '../..');

describe('the checks', () => {
  let folder: string;
  let output: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'dalasi-checks-'));
    const tree = join(folder, 'tree');
    mkdirSync(join(tree, 'server/src'), { recursive: true });
    for (const name of ['package.json', 'tsconfig.json', '.oxlintrc.json', '.oxfmtrc.json', 'knip.json'])
      copyFileSync(join(repository, name), join(tree, name));
    symlinkSync(join(repository, 'node_modules'), join(tree, 'node_modules'));
    writeFileSync(join(tree, 'server/src/main.ts'), `export const wrong: number = 'text';\n`);
    writeFileSync(join(tree, 'server/src/ugly.ts'), `export   const ugly = 1;\n`);
    const script = join(folder, 'check.ts');
    writeFileSync(
      script,
      `import { runChecks } from ${JSON.stringify(join(import.meta.dirname, 'checks.ts'))};
       console.log(JSON.stringify(await runChecks(process.argv[2])));`,
    );
    ({ output } = await runNode([script, tree], folder));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('all run, in their order, whichever fail, with a line for each', () => {
    const lines = [...output.matchAll(/^(\w[\w -]*?) +(ok|failed) +\d+\.\d s$/gm)].map(
      ([, name, verdict]) => `${name} ${verdict}`,
    );
    assert.deepEqual(
      lines,
      ['format failed', 'lint ok', 'types failed', 'dead code failed', 'test-only code failed'],
      output,
    );
  });

  test('say in full what is wrong, and which failed', () => {
    assert.match(output, /^ {2}server\/src\/ugly\.ts$/m);
    assert.match(output, /^ {2}server\/src\/main\.ts\(1,14\): error TS2322/m);
    assert.match(output, /Unused files \(1\)\s+server\/src\/ugly\.ts/);
    assert.match(output, /\["format","types","dead code","test-only code"\]$/m);
  });
});
