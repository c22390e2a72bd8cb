import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeyedRunner } from './keyed-runner.ts';

/** A runner whose runs end when the test says so. */
function controlled(keysMax: number) {
  const started: string[] = [];
  const running = new Map<string, () => void>();
  const runner = new KeyedRunner((key) => {
    assert.ok(!running.has(key), `${key} runs twice at once`);
    started.push(key);
    const { promise, resolve } = Promise.withResolvers<void>();
    running.set(key, resolve);
    return promise;
  }, keysMax);
  const finish = async (key: string): Promise<void> => {
    const resolve = running.get(key);
    assert.ok(resolve, `${key} does not run`);
    running.delete(key);
    resolve();
    // The runner goes on in the microtasks after the run.
    for (let tick = 0; tick < 5; tick += 1) await Promise.resolve();
  };
  return { runner, started, running, finish };
}

test('a key that is scheduled while it runs runs once more afterwards, however often it was scheduled', async () => {
  const { runner, started, finish } = controlled(4);
  runner.schedule('a');
  for (let again = 0; again < 3; again += 1) runner.schedule('a');
  assert.deepEqual(started, ['a']);
  await finish('a');
  assert.deepEqual(started, ['a', 'a']);
  await finish('a');
  assert.deepEqual(started, ['a', 'a']);
  await runner.idle();
});

test('different keys run concurrently up to the limit, and the next starts when one ends', async () => {
  const { runner, started, finish } = controlled(2);
  for (const key of ['a', 'b', 'c', 'd', 'c']) runner.schedule(key);
  assert.deepEqual(started, ['a', 'b']);
  await finish('b');
  assert.deepEqual(started, ['a', 'b', 'c']);
  await finish('a');
  assert.deepEqual(started, ['a', 'b', 'c', 'd']);
  await finish('c');
  await finish('d');
  assert.equal(started.length, 4, 'what waited twice ran once');
  await runner.idle();
});

test('idle waits for running keys, waiting keys and rescheduled keys', async () => {
  const { runner, started, finish } = controlled(1);
  runner.schedule('a');
  runner.schedule('b');
  runner.schedule('a');
  let isIdle = false;
  const idle = runner.idle().then(() => (isIdle = true));
  // Waiting keys come before one that has just run.
  for (const key of ['a', 'b', 'a']) {
    assert.equal(isIdle, false);
    await finish(key);
  }
  await idle;
  assert.deepEqual(started, ['a', 'b', 'a']);
});

test('keys that have not started can be dropped', async () => {
  const { runner, started, finish } = controlled(1);
  runner.schedule('a');
  runner.schedule('b');
  runner.clearWaiting();
  await finish('a');
  await runner.idle();
  assert.deepEqual(started, ['a']);
});
