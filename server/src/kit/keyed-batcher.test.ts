import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeyedBatcher } from './keyed-batcher.ts';

/** A batcher whose writes end when the test says so. */
function controlled() {
  const written: [string, number][] = [];
  const writing = new Map<string, () => void>();
  const write = (key: string, items: readonly number[]): Promise<void> => {
    assert.ok(!writing.has(key), 'a key has two batches at once');
    written.push([key, items.length]);
    const { promise, resolve } = Promise.withResolvers<void>();
    writing.set(key, resolve);
    return promise;
  };
  const batcher = new KeyedBatcher<number>(write, { keysMax: 4, batchMax: 128 });
  const finish = async (key: string): Promise<void> => {
    const resolve = writing.get(key);
    assert.ok(resolve);
    writing.delete(key);
    resolve();
    await Promise.resolve();
    await Promise.resolve();
  };
  return { batcher, written, finish };
}

test('an item is written at once, and those that arrive meanwhile in one batch', async () => {
  const { batcher, written, finish } = controlled();
  const done: number[] = [];
  const all = [1, 2, 3].map((number) => batcher.add('a', number).then(() => done.push(number)));
  assert.deepEqual(written, [['a', 1]]);
  await finish('a');
  assert.deepEqual(written, [
    ['a', 1],
    ['a', 2],
  ]);
  assert.deepEqual(done, [1]);
  await finish('a');
  await Promise.all(all);
  assert.deepEqual(done, [1, 2, 3]);
});

test('a key with many items lets waiting keys write between its batches', async () => {
  const { batcher, written, finish } = controlled();
  const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
  const all = keys.map((key) => batcher.add(key, 0));
  for (let number = 0; number < 200; number += 1) all.push(batcher.add('a', number));
  assert.deepEqual(
    written.map(([key]) => key),
    ['a', 'b', 'c', 'd'],
    'four at once',
  );
  await finish('a');
  assert.deepEqual(written.at(-1), ['e', 1]);
  await finish('b');
  assert.deepEqual(written.at(-1), ['f', 1]);
  await finish('c');
  assert.deepEqual(written.at(-1), ['a', 128]);
  for (const key of ['d', 'e', 'f', 'a']) await finish(key);
  assert.deepEqual(written.at(-1), ['a', 72]);
  await finish('a');
  await Promise.all(all);
});
