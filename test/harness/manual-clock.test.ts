import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from './manual-clock.ts';

const start = new Date('2026-11-20T12:00:00.000Z');

test('a manual clock stops until the test moves it', async () => {
  const clock = new ManualClock(start);
  assert.deepEqual(clock.now(), start);
  await clock.advance(1_500);
  assert.equal(clock.now().getTime() - start.getTime(), 1_500);
});

test('advance resumes sleepers in the order of their due times, each at its own time', async () => {
  const clock = new ManualClock(start);
  const resumed: string[] = [];
  const sleepAndRecord = async (name: string, ms: number): Promise<void> => {
    await clock.sleep(ms);
    resumed.push(`${name} at ${clock.now().getTime() - start.getTime()}`);
  };
  const all = Promise.all([
    sleepAndRecord('late', 300),
    sleepAndRecord('early', 100),
    sleepAndRecord('same time, slept later', 300),
  ]);
  await clock.advance(99);
  assert.deepEqual(resumed, []);
  await clock.advance(1_000);
  await all;
  assert.deepEqual(resumed, ['early at 100', 'late at 300', 'same time, slept later at 300']);
});

test('a sleeper that sleeps again within one advance resumes again', async () => {
  const clock = new ManualClock(start);
  let resumptions = 0;
  const loop = (async () => {
    while (resumptions < 3) {
      await clock.sleep(100);
      resumptions += 1;
    }
  })();
  await clock.advance(250);
  assert.equal(resumptions, 2);
  await clock.advance(50);
  await loop;
  assert.equal(resumptions, 3);
});

test('an aborted sleep ends at once and leaves no sleeper', async () => {
  const clock = new ManualClock(start);
  const stop = new AbortController();
  const sleep = clock.sleep(1_000, stop.signal);
  assert.equal(clock.sleeping, 1);
  stop.abort();
  await sleep;
  assert.equal(clock.sleeping, 0);
  await clock.sleep(1_000, AbortSignal.abort());
  assert.equal(clock.sleeping, 0);
});

test('untilSleeping resolves once as many sleep as expected', async () => {
  const clock = new ManualClock(start);
  const waiting = clock.untilSleeping(2);
  const sleeps = Promise.all([clock.sleep(10), Promise.resolve().then(() => clock.sleep(20))]);
  await waiting;
  assert.equal(clock.sleeping, 2);
  await clock.advance(20);
  await sleeps;
});

test('a jump resumes sleepers in order at the new time; a sleep begun then lasts in full', async () => {
  const clock = new ManualClock(start);
  const resumed: string[] = [];
  const sleepAndRecord = async (name: string, ms: number): Promise<void> => {
    await clock.sleep(ms);
    resumed.push(`${name} at ${clock.now().getTime() - start.getTime()}`);
  };
  const late = sleepAndRecord('late', 300).then(() => sleepAndRecord('again', 100));
  const early = sleepAndRecord('early', 100);
  await clock.jump(1_000);
  await early;
  assert.deepEqual(resumed, ['early at 1000', 'late at 1000']);
  await clock.jump(99);
  assert.equal(resumed.length, 2);
  await clock.jump(1);
  await late;
  assert.deepEqual(resumed.at(-1), 'again at 1100');
});
