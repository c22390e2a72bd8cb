import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import type { ChangeFeed } from '../kit/changes.ts';
import { createServiceLog } from '../api/service-log.ts';
import { Heartbeats } from './heartbeats.ts';
import { startWorker, type Worker, type WorkQueue } from './worker.ts';

let clock: ManualClock;
let logged: string[];
let hints: Map<string, (which: string) => void>;

const pollIntervalMs = 1_000;

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
  const log = createServiceLog({ level: 'info', write: (line) => logged.push(line) });
  return startWorker({ clock, changes, log, queues });
}

/** Work that is due until it is done once. */
function source(changesToIt: Partial<WorkQueue> = {}) {
  const due = new Set<string>();
  const done: string[] = [];
  const made: WorkQueue = {
    name: 'the work',
    topicKind: 'work',
    pollIntervalMs,
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

test('polling finds work that was not announced, at the start and every second', async () => {
  const { due, done, made } = source();
  due.add('first');
  const worker = start(made);
  await clock.untilSleeping(1);
  assert.deepEqual(done, ['first']);
  due.add('second');
  await clock.advance(pollIntervalMs - 1);
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
  assert.equal(hints.size, 0, 'a stopped worker has no subscriptions');
});

test('work that fails is logged and stays due; the next poll tries again', async () => {
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
  await clock.advance(pollIntervalMs);
  assert.deepEqual(done, ['a']);
  await worker.stop();
});

test('a queue beats when polled, a chore when done; one that fails is silent since it began to fail', async () => {
  const heartbeats = new Heartbeats(clock);
  let [isAway, fails] = [true, true];
  const { made } = source();
  const poll = async () => {
    if (isAway) throw new Error('no database');
    return [];
  };
  const run = async () => {
    if (fails) throw new Error('a mistake');
  };
  const chore: WorkQueue = {
    ...source().made,
    name: 'the chore',
    background: 'chore',
    listDueKeys: async () => ['all'],
    run,
  };
  const log = createServiceLog({ level: 'silent' });
  const worker = startWorker({ clock, changes, log, queues: [{ ...made, listDueKeys: poll }, chore], heartbeats });
  const silences = () => heartbeats.list().map(({ silentMs }) => silentMs);
  await clock.untilSleeping(2);
  await clock.advance(5 * pollIntervalMs);
  assert.deepEqual(silences(), [5 * pollIntervalMs, 5 * pollIntervalMs]);
  isAway = false;
  await clock.advance(pollIntervalMs);
  assert.deepEqual(silences(), [0, 6 * pollIntervalMs]);
  fails = false;
  await clock.advance(pollIntervalMs);
  assert.deepEqual(silences(), [0, 0]);
  await worker.stop();
});

test('a chore of an hour is silent only when overdue or failed, and is tried again soon', async () => {
  const [heartbeats, hourMs] = [new Heartbeats(clock), 3_600_000];
  let run = async (): Promise<void> => {};
  const chore: WorkQueue = {
    ...{ ...source().made, background: 'chore', pollIntervalMs: hourMs },
    listDueKeys: async () => ['all'],
    run: () => run(),
  };
  const log = createServiceLog({ level: 'silent' });
  const worker = startWorker({ clock, changes, log, queues: [chore], heartbeats });
  const silentMs = () => heartbeats.list()[0]?.silentMs;
  await clock.untilSleeping(1);
  let runs = 0;
  run = async () => {
    runs += 1;
    throw new Error('a mistake');
  };
  await clock.advance(hourMs - 1);
  assert.equal(silentMs(), 0);
  await clock.advance(1);
  for (let retries = 0; retries < 3 * 120; retries += 1) await clock.advance(30_000);
  assert.ok(runs >= 3 * 120 && runs <= 3 * 121 + 1, `one retry at a time: ${runs} runs in three hours`);
  assert.equal(silentMs(), 3 * hourMs);
  const { promise: hangs, resolve: end } = Promise.withResolvers<void>();
  run = () => hangs;
  await clock.advance(30_000);
  assert.equal(silentMs(), 3 * hourMs + 30_000, 'the one that is tried again has not ended');
  end();
  await clock.advance(1);
  assert.equal(silentMs(), 0);
  const never = Promise.withResolvers<void>();
  run = () => never.promise;
  await clock.advance(hourMs);
  await clock.advance(2 * hourMs + 5_000);
  assert.ok((silentMs() ?? 0) >= 5_000, `one that hangs: ${silentMs()}`);
  never.resolve();
  await worker.stop();
});

test('a poll that fails is logged and repeated', async () => {
  let polls = 0;
  const { done, made } = source();
  const worker = start({
    ...made,
    listDueKeys: async () => {
      polls += 1;
      if (polls === 1) throw new Error('no database');
      return polls === 2 ? ['a'] : [];
    },
  });
  await clock.untilSleeping(1);
  assert.match(logged.join(), /no database.*"polling for the work failed/s);
  await clock.advance(pollIntervalMs);
  assert.deepEqual(done, ['a']);
  await worker.stop();
});

test('polls that keep failing are logged once a minute, and at once after one that succeeded', async () => {
  let isUnavailable = true;
  const { made } = source();
  const listDueKeys = async () => {
    if (isUnavailable) throw new Error('no database');
    return [];
  };
  const worker = start({ ...made, listDueKeys });
  await clock.untilSleeping(1);
  for (let second = 0; second < 119; second += 1) await clock.advance(pollIntervalMs);
  assert.equal(logged.length, 2);
  isUnavailable = false;
  await clock.advance(pollIntervalMs);
  isUnavailable = true;
  await clock.advance(pollIntervalMs);
  assert.equal(logged.length, 3);
  await worker.stop();
});

test('stopping waits for work under way, aborts its signal and takes nothing new', async () => {
  const mayEnd = Promise.withResolvers<void>();
  const begun: string[] = [];
  let isAborted = false;
  const { due, made } = source();
  due.add('a');
  const worker = start({
    ...made,
    keysMax: 1,
    run: async (key, stopped) => {
      begun.push(key);
      await mayEnd.promise;
      isAborted = stopped.aborted;
    },
  });
  await clock.untilSleeping(1);
  const hint = hints.get('work');
  hint?.('b');
  let hasStopped = false;
  const stopping = worker.stop().then(() => (hasStopped = true));
  hint?.('c');
  await clock.advance(pollIntervalMs);
  assert.equal(hasStopped, false);
  mayEnd.resolve();
  await stopping;
  assert.deepEqual(begun, ['a']);
  assert.equal(isAborted, true);
});

test('a drain waits for work that started while it waited for other work', async () => {
  const second = source({ name: 'second', topicKind: 'second' });
  let secondIsDone = false;
  const slowSecond: WorkQueue = {
    ...second.made,
    run: async () => {
      for (let tick = 0; tick < 50; tick += 1) await Promise.resolve();
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
  // The second is polled first, so that it is idle then.
  const worker = start(slowSecond, first.made);
  await clock.untilSleeping(2);
  first.due.add('a');
  await worker.drain();
  assert.equal(secondIsDone, true);
  await worker.stop();
});

test('a drain does due work, work that becomes due through it, each chore once and no early purge', async () => {
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
  const always = { listDueKeys: async () => ['all'], pollIntervalMs: 60_000 };
  const chore = source({ name: 'chore', background: 'chore', ...always });
  const purge = source({ name: 'purge', background: 'purge', ...always });
  const worker = start(chore.made, purge.made, second.made, first.made);
  await clock.untilSleeping(4);
  first.due.add('a');
  await worker.drain();
  assert.deepEqual(first.done, ['a', 'a+', 'a++']);
  assert.deepEqual(second.done.toSorted(), ['a', 'a+', 'a++']);
  assert.equal(chore.done.length, 2, 'at the start and for the drain');
  assert.equal(purge.done.length, 0);
  await worker.stop();
});

test('a purge begins a minute after the start, and comes again when its interval has passed', async () => {
  const purge = source({ background: 'purge', listDueKeys: async () => ['all'], pollIntervalMs: 60_000 });
  const worker = start(purge.made);
  await clock.advance(59_999);
  assert.equal(purge.done.length, 0);
  await clock.advance(1);
  await clock.untilSleeping(1);
  assert.equal(purge.done.length, 1);
  await clock.advance(60_000);
  await clock.untilSleeping(1);
  assert.equal(purge.done.length, 2);
  await worker.stop();
});
