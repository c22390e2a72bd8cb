import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { FileQueue } from './file-queue.ts';
import { planProcesses } from './plan-processes.ts';

let folder: string;

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'dalasi-groups-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

function add(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

test('test files share processes by what they need; one that measures its own process has it to itself', () => {
  const page = add('page.test.ts', `import { openPage } from '../../test/harness/browser.ts';`);
  const starting = add('starting.test.ts', `import { ProcessWorld } from '../../test/harness/process.ts';`);
  const tool = add('tool.test.ts', `import { CliProcessWorld } from './cli-process.corpus.ts';`);
  const called = add('called.test.ts', `import { CliWorld } from './run-cli.corpus.ts';`);
  const measuring = add('measuring.test.ts', `test('small', () => assert(process.memoryUsage().rss < 1));`);
  const plain = add('plain.test.ts', '');
  const files = [plain, page, measuring, starting, called, tool];
  const queues = planProcesses(files, { directory: join(folder, 'queues'), processors: 2 }).map(({ queue }) => queue);
  assert.deepEqual(
    queues.slice(0, 4).map((queue) => [...queue.take()]),
    [[page], [starting, tool], [plain, called], [measuring]],
  );
  assert.deepEqual(new Set(queues.slice(4).map((queue) => queue.left())), new Set([0]), 'helpers find nothing left');
});

test('processes that take files from one queue get each file once', () => {
  const directory = join(folder, 'one-queue');
  const queue = FileQueue.create(directory, ['a', 'b', 'c']);
  const one = queue.take();
  assert.equal(one.next().value, 'a');
  assert.equal(queue.left(), 2);
  assert.deepEqual([...FileQueue.open(directory).take()], ['b', 'c']);
  assert.deepEqual([...one], []);
  assert.equal(queue.left(), 0);
});
