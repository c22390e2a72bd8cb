import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OutcomeRecorder } from './outcome-recorder.ts';

interface TestOutcome {
  merchantId: string;
  number: number;
}

/** A recorder whose writes end when the test says so. */
function controlled() {
  const written: [string, number][] = [];
  const writing = new Map<string, () => void>();
  const recorder = new OutcomeRecorder<TestOutcome>((merchantId, outcomes) => {
    assert.ok(!writing.has(merchantId), 'a merchant has two batches at once');
    written.push([merchantId, outcomes.length]);
    const { promise, resolve } = Promise.withResolvers<void>();
    writing.set(merchantId, resolve);
    return promise;
  });
  const finish = async (merchantId: string): Promise<void> => {
    const resolve = writing.get(merchantId);
    assert.ok(resolve);
    writing.delete(merchantId);
    resolve();
    await Promise.resolve();
    await Promise.resolve();
  };
  return { recorder, written, finish };
}

test('an outcome is written at once, and those that come meanwhile together', async () => {
  const { recorder, written, finish } = controlled();
  const done: number[] = [];
  const all = [1, 2, 3].map((number) => recorder.record({ merchantId: 'a', number }).then(() => done.push(number)));
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

test('merchants have their turns: one with many outcomes comes behind those who wait', async () => {
  const { recorder, written, finish } = controlled();
  const merchants = ['a', 'b', 'c', 'd', 'e', 'f'];
  const all = merchants.map((merchantId) => recorder.record({ merchantId, number: 0 }));
  for (let number = 0; number < 200; number += 1) all.push(recorder.record({ merchantId: 'a', number }));
  assert.deepEqual(
    written.map(([merchantId]) => merchantId),
    ['a', 'b', 'c', 'd'],
    'four at once',
  );
  await finish('a');
  assert.deepEqual(written.at(-1), ['e', 1]);
  await finish('b');
  assert.deepEqual(written.at(-1), ['f', 1]);
  await finish('c');
  assert.deepEqual(written.at(-1), ['a', 128]);
  for (const merchantId of ['d', 'e', 'f', 'a']) await finish(merchantId);
  assert.deepEqual(written.at(-1), ['a', 72]);
  await finish('a');
  await Promise.all(all);
});
