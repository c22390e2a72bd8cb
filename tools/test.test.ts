import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { runNode, type CommandResult } from './runner/command.ts';

const command = join(import.meta.dirname, 'test.ts');
const imports = `import { after, beforeEach, describe, test } from 'node:test';\nimport assert from 'node:assert/strict';\n`;

const files: Record<string, string> = {
  'passes.test.ts': `test('one', () => {}); describe('suite', () => { test('two', () => {}); });`,
  'fails.test.ts': `describe('suite', () => { test('inner', () => assert.equal(1, 2, 'not the same')); test('fine', () => {}); });`,
  'crashes.test.ts': `test('fine', () => {}); console.log('last words'); setImmediate(() => process.exit(3));`,
  'quits.test.ts': `test('fine', () => process.exit(0));`,
  'broken.test.ts': `import './missing.ts';`,
  'rejects.test.ts': `test('fine', () => { setImmediate(() => { throw new Error('too late'); }); });`,
  'empty.test.ts': '',
  'skips.test.ts': `test('left out', { skip: true }, () => {}); test('fine', () => {});`,
  'leaks.test.ts': `import { createServer } from 'node:net'; test('fine', () => { createServer().listen(0); });`,
  'open.test.ts': `import { createServer } from 'node:net'; const server = createServer();
    test('fine', () => { server.listen(0); }); after(() => { server.close(); });`,
  'measures.test.ts': `test('one', (context) => { context.diagnostic('7 of 9'); });`,
  'calls.test.ts': `import { connect } from 'node:net'; import { execFileSync } from 'node:child_process';
    const call = (host) => connect(9, host).on('error', () => {}).on('connect', (socket) => socket?.destroy());
    test('here', () => { call('127.0.0.1'); call('localhost'); call('shop.example'); });
    test('there', () => { execFileSync(process.execPath, ['-e', "require('net').connect(9, '192.0.2.7').on('error', () => {}).setTimeout(1, function () { this.destroy(); })"]); });`,
  'hooks.test.ts': `let count = 0; beforeEach(() => { count += 1; }); test('one', () => assert.equal(count, 1));`,
  'hangs.test.ts': `describe('suite', () => { test('endless', () => new Promise(() => setInterval(() => {}, 1000))); });`,
};

describe('the test command', () => {
  let folder: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'dalasi-runner-'));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), imports + text);
    // The same run with less patience, so that nobody waits for files that never end: they may take ten times what one
    // takes that ends, whatever that is on this machine.
    const runner = JSON.stringify(join(import.meta.dirname, 'runner/run-tests.ts'));
    writeFileSync(
      join(folder, 'impatient.ts'),
      `import { runTests } from ${runner};
       const [quick, ...files] = process.argv.slice(2);
       const startedMs = performance.now();
       await runTests(import.meta.dirname, [quick]);
       const durationMs = Math.round(performance.now() - startedMs);
       const limits = { testMs: 1_000 + 10 * durationMs, lingerMs: 300 + durationMs };
       console.log(JSON.stringify(await runTests(import.meta.dirname, files, limits)));`,
    );
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const run = (...names: string[]): Promise<CommandResult> =>
    runNode([command, ...names.map((name) => join(folder, name))], folder);
  const runImpatiently = (...names: string[]): Promise<CommandResult> =>
    runNode([join(folder, 'impatient.ts'), ...['passes.test.ts', ...names].map((name) => join(folder, name))], folder);

  function assertLastLine({ output, isOk }: CommandResult, line: string): void {
    assert.equal(output.trimEnd().split('\n').at(-1), line, output);
    assert.equal(isOk, line.endsWith(' 0 failed'), output);
  }

  test('runs the files of a folder, and says which name is neither a file nor a folder with one', async () => {
    const whole = await runNode([command, 'tools/tidy'], folder);
    assert.ok(whole.isOk, whole.output);
    for (const file of ['tenant-rules', 'word-rules']) assert.ok(whole.output.includes(`tools/tidy/${file}.test.ts`));
    const { output, isOk } = await runNode([command, 'tools/nowhere'], folder);
    assert.deepEqual([output.trim(), isOk], ['tools/nowhere is no test file, and no folder that has one.', false]);
  });

  test('ends well when every test passed, and counts tests, not suites', async () => {
    const result = await run('passes.test.ts');
    assertLastLine(result, '2 passed, 0 failed');
    assert.match(result.output, /^ℹ pass 2$/m);
    assert.doesNotMatch(result.output, /one|two/, 'names of tests that passed are not shown');
  });

  test('fails when a test, or what it starts, calls another machine', async () => {
    const result = await run('calls.test.ts', 'passes.test.ts');
    assertLastLine(result, '4 passed, 1 failed');
    assert.match(result.output, /outside-calls\.js\n\s+Error: A test called another machine:\n\s+192\.0\.2\.7 /);
    assert.doesNotMatch(result.output, /127\.0\.0\.1|shop\.example/);
  });

  describe('of files that fail, each in its way, and one that passes', () => {
    let result: CommandResult;

    before(async () => {
      result = await run(...['fails', 'broken', 'empty', 'skips', 'passes'].map((name) => `${name}.test.ts`));
    });

    test('counts what passed and what failed, and runs the other files all the same', () => {
      assertLastLine(result, '4 passed, 4 failed');
      assert.match(result.output, /^ℹ pass 4$/m);
    });

    test('shows a failed test in full', () => {
      assert.match(result.output, /fails\.test\.ts:3 › suite › inner\n\s+AssertionError.*not the same/);
    });

    test('fails a file that cannot be loaded', () => {
      assert.match(result.output, /✖ \S*broken\.test\.ts[^]*?Cannot find module .*missing\.ts/);
    });

    test('fails a file without tests', () => {
      assert.match(result.output, /empty\.test\.ts\n\s+Error: There is no test in it/);
    });

    test('counts a skipped test as failed', () => {
      assert.match(result.output, /^ℹ skipped 1$[^]*^Tests that were skipped or only planned count as failed\.$/m);
    });
  });

  test('a file whose process exits early fails with its output, and the files after it run all the same', async () => {
    const result = await run('crashes.test.ts', 'passes.test.ts');
    assertLastLine(result, '3 passed, 1 failed');
    assert.match(result.output, /crashes\.test\.ts(, \S+)?\n\s+Error: Its process ended with code 3[\s\S]*last words/);
  });

  test('a file whose tests never ran has failed, also when its process ended well', async () => {
    const result = await run('quits.test.ts', 'passes.test.ts');
    assert.equal(result.isOk, false, result.output);
    assert.match(result.output, /quits\.test\.ts\n\s+Error: Its tests never ran to their end\./);
    assert.match(result.output, /^ℹ pass 2$/m);
  });

  test('an error after the end of its test is a failure', async () => {
    assertLastLine(await run('rejects.test.ts'), '1 passed, 1 failed');
  });

  test('a table of processor times has each file and the sum', async () => {
    const { output } = await runNode(
      [command, '--times', ...['passes', 'hooks'].map((name) => join(folder, `${name}.test.ts`))],
      folder,
    );
    for (const name of ['passes.test.ts', 'hooks.test.ts'])
      assert.match(output, new RegExp(`^ +\\d+\\.\\d s +\\d+\\.\\d s  .*${name}$`, 'm'));
    assert.match(output, /^ +\d+\.\d s +\d+\.\d s {2}2 files$/m);
  });

  test('a file that leaves a resource open fails the run, which names both', async () => {
    const { output } = await runImpatiently('hooks.test.ts', 'leaks.test.ts', 'measures.test.ts');
    assert.match(
      output,
      /✖ hooks\.test\.ts, leaks\.test\.ts, measures\.test\.ts\n\s+Error: Its process ended with code 1/,
    );
    assert.match(
      output,
      /The tests have ended, but this was left open: TCPServerWrap \(since \S+\/leaks\.test\.ts\)\./,
    );
    assert.match(output, /"passed":3,"failed":1,/);
  });

  test('files that share a process keep their own hooks and figures, and may close resources afterwards', async () => {
    const { output } = await runImpatiently('hooks.test.ts', 'open.test.ts', 'passes.test.ts', 'measures.test.ts');
    assert.match(output, /^4 of 4 test files/m);
    assert.match(output, /"passed":5,"failed":0,/);
    assert.match(output, /"path":"measures\.test\.ts","durationMs":[\d.]+,"isOk":true,"figures":\["7 of 9"\]/);
  });

  test('a test that takes too long has failed, and its process is ended', async () => {
    const { output } = await runImpatiently('hangs.test.ts');
    assert.match(output, /hangs\.test\.ts:3 › suite › endless\n\s+test timed out after \d+ms/);
    assert.match(output, /The tests have ended, but this was left open: Timeout\./);
    assert.match(output, /"passed":0,"failed":1,/);
  });
});
