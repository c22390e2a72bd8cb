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

test('sleepers wake in the order of their due times, each at its own time', async () => {
  const clock = new ManualClock(start);
  const woken: string[] = [];
  const sleepAndRecord = async (name: string, ms: number): Promise<void> => {
    await clock.sleep(ms);
    woken.push(`${name} at ${clock.now().getTime() - start.getTime()}`);
  };
  const all = Promise.all([
    sleepAndRecord('late', 300),
    sleepAndRecord('early', 100),
    sleepAndRecord('same moment, later in line', 300),
  ]);
  await clock.advance(99);
  assert.deepEqual(woken, []);
  await clock.advance(1_000);
  await all;
  assert.deepEqual(woken, ['early at 100', 'late at 300', 'same moment, later in line at 300']);
});

test('a sleeper that sleeps again within one advance wakes again', async () => {
  const clock = new ManualClock(start);
  let wakeups = 0;
  const loop = (async () => {
    while (wakeups < 3) {
      await clock.sleep(100);
      wakeups += 1;
    }
  })();
  await clock.advance(250);
  assert.equal(wakeups, 2);
  await clock.advance(50);
  await loop;
  assert.equal(wakeups, 3);
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

test('a jump wakes sleepers in order at the new time, and a sleep begun then lasts in full', async () => {
  const clock = new ManualClock(start);
  const woken: string[] = [];
  const sleepAndRecord = async (name: string, ms: number): Promise<void> => {
    await clock.sleep(ms);
    woken.push(`${name} at ${clock.now().getTime() - start.getTime()}`);
  };
  const late = sleepAndRecord('late', 300).then(() => sleepAndRecord('again', 100));
  const early = sleepAndRecord('early', 100);
  await clock.jump(1_000);
  await early;
  assert.deepEqual(woken, ['early at 1000', 'late at 1000']);
  await clock.jump(99);
  assert.equal(woken.length, 2);
  await clock.jump(1);
  await late;
  assert.deepEqual(woken.at(-1), 'again at 1100');
});
