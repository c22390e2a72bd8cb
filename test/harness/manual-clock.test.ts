import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from './manual-clock.ts';

const start = new Date('2026-11-20T12:00:00.000Z');

test('time stands still until it is moved', async () => {
  const clock = new ManualClock(start);
  assert.deepEqual(clock.now(), start);
  await clock.advance(1_500);
  assert.equal(clock.now().getTime() - start.getTime(), 1_500);
});

test('sleepers wake in the order of their moments, each at its own moment', async () => {
  const clock = new ManualClock(start);
  const woken: string[] = [];
  const sleepAndTell = async (name: string, ms: number): Promise<void> => {
    await clock.sleep(ms);
    woken.push(`${name} at ${clock.now().getTime() - start.getTime()}`);
  };
  const all = Promise.all([
    sleepAndTell('late', 300),
    sleepAndTell('early', 100),
    sleepAndTell('same moment, later in line', 300),
  ]);
  await clock.advance(99);
  assert.deepEqual(woken, []);
  await clock.advance(1_000);
  await all;
  assert.deepEqual(woken, ['early at 100', 'late at 300', 'same moment, later in line at 300']);
});

test('who sleeps again within the time that passes wakes again', async () => {
  const clock = new ManualClock(start);
  let turns = 0;
  const loop = (async () => {
    while (turns < 3) {
      await clock.sleep(100);
      turns += 1;
    }
  })();
  await clock.advance(250);
  assert.equal(turns, 2);
  await clock.advance(50);
  await loop;
  assert.equal(turns, 3);
});

test('an aborted sleep ends at once and leaves nobody behind', async () => {
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

test('untilSleeping waits for the code that is about to sleep', async () => {
  const clock = new ManualClock(start);
  const waiting = clock.untilSleeping(2);
  const sleeps = Promise.all([clock.sleep(10), Promise.resolve().then(() => clock.sleep(20))]);
  await waiting;
  assert.equal(clock.sleeping, 2);
  await clock.advance(20);
  await sleeps;
});

test('a jump wakes sleepers in their order at the new time, and what they begin then has its whole time', async () => {
  const clock = new ManualClock(start);
  const woken: string[] = [];
  const sleepAndTell = async (name: string, ms: number): Promise<void> => {
    await clock.sleep(ms);
    woken.push(`${name} at ${clock.now().getTime() - start.getTime()}`);
  };
  const late = sleepAndTell('late', 300).then(() => sleepAndTell('again', 100));
  const early = sleepAndTell('early', 100);
  await clock.jump(1_000);
  await early;
  assert.deepEqual(woken, ['early at 1000', 'late at 1000']);
  await clock.jump(99);
  assert.equal(woken.length, 2);
  await clock.jump(1);
  await late;
  assert.deepEqual(woken.at(-1), 'again at 1100');
});
