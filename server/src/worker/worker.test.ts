import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import type { ChangeFeed } from '../kit/changes.ts';
import { createLog } from '../kit/log.ts';
import { startWorker } from './worker.ts';
import type { Worker, WorkQueue } from './worker.ts';

let clock: ManualClock;
let logged: string[];
let hints: Map<string, (which: string) => void>;

const lookEveryMs = 1_000;

beforeEach(() => {
  clock = new ManualClock();
  logged = [];
  hints = new Map();
});

const changes: ChangeFeed = {
  notify: () => {},
  subscribe: () => () => {},
  subscribeKind: (kind, listener) => {
    hints.set(kind, listener);
    return () => hints.delete(kind);
  },
};

function start(...queues: WorkQueue[]): Worker {
  const log = createLog({ level: 'info', write: (line) => logged.push(line) });
  return startWorker({ clock, changes, log, queues });
}

/** Work that is due until it is done once. */
function source(changesToIt: Partial<WorkQueue> = {}) {
  const due = new Set<string>();
  const done: string[] = [];
  const made: WorkQueue = {
    name: 'the work',
    topicKind: 'work',
    lookEveryMs,
    keysMax: 4,
    listDueKeys: async () => [...due],
    run: async (key) => {
      due.delete(key);
      done.push(key);
    },
    ...changesToIt,
  };
  return { due, done, made };
}

test('the sweep finds what nobody announced, at the start and every second', async () => {
  const { due, done, made } = source();
  due.add('first');
  const worker = start(made);
  await clock.untilSleeping(1);
  assert.deepEqual(done, ['first']);
  due.add('second');
  await clock.advance(lookEveryMs - 1);
  assert.deepEqual(done, ['first']);
  await clock.advance(1);
  assert.deepEqual(done, ['first', 'second']);
  await worker.stop();
});

test('a hint starts the work at once', async () => {
  const { done, made } = source();
  const worker = start(made);
  await clock.untilSleeping(1);
  hints.get('work')?.('announced');
  assert.deepEqual(done, ['announced']);
  await worker.stop();
  assert.equal(hints.size, 0, 'a worker that has stopped listens no more');
});

test('work that fails is logged and stays due; the next sweep tries again', async () => {
  let fails = true;
  const { due, made } = source();
  const done: string[] = [];
  due.add('a');
  const worker = start({
    ...made,
    run: async (key) => {
      if (fails) throw new Error('a mistake');
      due.delete(key);
      done.push(key);
    },
  });
  await clock.untilSleeping(1);
  assert.match(logged.join(), /a mistake.*"the work failed and will be tried again"/s);
  fails = false;
  await clock.advance(lookEveryMs);
  assert.deepEqual(done, ['a']);
  await worker.stop();
});

test('a look for work that fails is logged and repeated', async () => {
  let looks = 0;
  const { done, made } = source();
  const worker = start({
    ...made,
    listDueKeys: async () => {
      looks += 1;
      if (looks === 1) throw new Error('no database');
      return looks === 2 ? ['a'] : [];
    },
  });
  await clock.untilSleeping(1);
  assert.match(logged.join(), /no database.*"looking for the work failed/s);
  await clock.advance(lookEveryMs);
  assert.deepEqual(done, ['a']);
  await worker.stop();
});

test('a look that goes on failing is said once a minute, and at once when it fails again after it worked', async () => {
  let isAway = true;
  const { made } = source();
  const listDueKeys = async () => {
    if (isAway) throw new Error('no database');
    return [];
  };
  const worker = start({ ...made, listDueKeys });
  await clock.untilSleeping(1);
  for (let second = 0; second < 119; second += 1) await clock.advance(lookEveryMs);
  assert.equal(logged.length, 2);
  isAway = false;
  await clock.advance(lookEveryMs);
  isAway = true;
  await clock.advance(lookEveryMs);
  assert.equal(logged.length, 3);
  await worker.stop();
});

test('stopping waits for what is under way, tells it, and takes nothing new', async () => {
  const mayEnd = Promise.withResolvers<void>();
  const begun: string[] = [];
  let told = false;
  const { due, made } = source();
  due.add('a');
  const worker = start({
    ...made,
    keysMax: 1,
    run: async (key, stopped) => {
      begun.push(key);
      await mayEnd.promise;
      told = stopped.aborted;
    },
  });
  await clock.untilSleeping(1);
  const hint = hints.get('work');
  hint?.('b');
  let hasStopped = false;
  const stopping = worker.stop().then(() => (hasStopped = true));
  hint?.('c');
  await clock.advance(lookEveryMs);
  assert.equal(hasStopped, false);
  mayEnd.resolve();
  await stopping;
  assert.deepEqual(begun, ['a']);
  assert.equal(told, true);
});

test('a drain waits for what was started while it waited for something else', async () => {
  const second = source({ name: 'second', topicKind: 'second' });
  let secondIsDone = false;
  const slowSecond: WorkQueue = {
    ...second.made,
    run: async () => {
      for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
      secondIsDone = true;
    },
  };
  const first = source({
    name: 'first',
    topicKind: 'first',
    run: async (key) => {
      first.due.delete(key);
      // Announced and no longer due: only the runner knows of it.
      hints.get('second')?.('announced');
    },
  });
  // The second comes first in line, so that it is idle when it is asked.
  const worker = start(slowSecond, first.made);
  await clock.untilSleeping(2);
  first.due.add('a');
  await worker.drain();
  assert.equal(secondIsDone, true);
  await worker.stop();
});

test('a drain does what is due, what becomes due through it, and each chore once', async () => {
  const second = source({ name: 'second', topicKind: 'second' });
  const first = source({
    name: 'first',
    topicKind: 'first',
    run: async (key) => {
      first.due.delete(key);
      first.done.push(key);
      if (first.done.length < 3) first.due.add(`${key}+`);
      second.due.add(key);
    },
  });
  const chore = source({ name: 'chore', isChore: true, listDueKeys: async () => ['all'], lookEveryMs: 60_000 });
  const worker = start(chore.made, second.made, first.made);
  await clock.untilSleeping(3);
  first.due.add('a');
  await worker.drain();
  assert.deepEqual(first.done, ['a', 'a+', 'a++']);
  assert.deepEqual(second.done.toSorted(), ['a', 'a+', 'a++']);
  assert.equal(chore.done.length, 2, 'at the start and for the drain');
  await worker.stop();
});
