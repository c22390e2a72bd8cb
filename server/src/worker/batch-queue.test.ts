import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { KeyedLimiter } from '../kit/keyed-limiter.ts';
import { KeyedRunner } from '../kit/keyed-runner.ts';
import { BatchQueue } from './batch-queue.ts';

interface Settings {
  inAll?: number;
  concurrency?: number;
  prefetch?: number;
  claimMin?: number;
  canPutBack?: boolean;
  scopeOf?: (key: string) => string;
}

/** A queue with items that the test ends. */
function controlled(settings: Settings = {}) {
  const {
    inAll = 20,
    concurrency = 8,
    prefetch = 0,
    claimMin = 4,
    canPutBack = false,
    scopeOf = (key) => key,
  } = settings;
  const clock = new ManualClock();
  const due = new Map<string, number>();
  const claims: [string, number][] = [];
  const running: { key: string; end: () => void; release: () => void; hasBacklog: () => boolean }[] = [];
  const putBack: string[] = [];
  const idled: string[] = [];
  const limiter = new KeyedLimiter<string>({
    name: 'test',
    limitsOf: (scope) => [{ key: scope === 'unproven' ? scope : 'all', max: inAll }],
  });
  const batches = new BatchQueue<string, string>(
    {
      capacity: (key) => ({ scope: scopeOf(key), concurrency, prefetch }),
      claim: async (key, rowsMax) => {
        const count = Math.min(rowsMax, due.get(key) ?? 0);
        claims.push([key, count]);
        due.set(key, (due.get(key) ?? 0) - count);
        return Array.from({ length: count }, () => key);
      },
      run: (key, permit) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        running.push({ key, end: resolve, ...permit });
        return promise;
      },
      ...(canPutBack && {
        putBack: async (key: string, items: readonly string[]) => {
          putBack.push(...items);
          due.set(key, (due.get(key) ?? 0) + items.length);
        },
      }),
      onIdle: (key) => idled.push(key),
    },
    { clock, limiter, claimMin, claimMax: 128 },
  );
  const runner = new KeyedRunner((key) => batches.run(key), 8);
  const schedule = (key: string): void => runner.schedule(key);
  batches.attach(schedule);
  const settle = async (): Promise<void> => {
    for (let tick = 0; tick < 50; tick += 1) await Promise.resolve();
  };
  const underWay = (key: string) => running.filter((entry) => entry.key === key);
  return {
    ...{ batches, limiter, clock, due, claims, running, putBack, idled, settle, underWay },
    /** Makes so many more items due for the key. */
    add: async (key: string, count: number): Promise<void> => {
      due.set(key, (due.get(key) ?? 0) + count);
      schedule(key);
      await settle();
    },
    end: async (key: string, count: number): Promise<void> => {
      for (const entry of underWay(key).slice(0, count)) {
        running.splice(running.indexOf(entry), 1);
        entry.end();
      }
      await settle();
    },
  };
}

test('a key has a limit, and all keys together have another', async () => {
  const { add, underWay } = controlled({ inAll: 20 });
  for (const key of ['a', 'b', 'c', 'd']) await add(key, 10);
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((key) => underWay(key).length),
    [8, 8, 4, 0],
  );
});

test('permits that a claim does not use are available to other keys at once', async () => {
  const { add, underWay, limiter } = controlled({ inAll: 8 });
  await add('a', 2);
  assert.equal(limiter.inUse, 2);
  await add('b', 8);
  assert.equal(underWay('b').length, 6);
});

test('a key with more work claims again once, when there is room for enough items', async () => {
  const { add, end, claims } = controlled();
  await add('a', 14);
  await end('a', 3);
  assert.deepEqual(claims, [['a', 8]]);
  await end('a', 1);
  assert.deepEqual(claims, [
    ['a', 8],
    ['a', 4],
  ]);
  await end('a', 4);
  await end('a', 4);
  assert.equal(claims.length, 3, 'once more, for the remaining two');
});

test('announced items are claimed while there is any room', async () => {
  const { add, underWay } = controlled();
  for (let count = 0; count < 8; count += 1) await add('a', 1);
  assert.equal(underWay('a').length, 8);
});

test('a key whose last item ends claims again, however few permits it may have', async () => {
  const { add, end, claims } = controlled({ concurrency: 2 });
  await add('a', 3);
  await end('a', 1);
  assert.equal(claims.length, 1);
  await end('a', 1);
  assert.deepEqual(claims.at(-1), ['a', 1]);
});

test('a key without a permit gets one when an item of another key ends', async () => {
  const { add, end, underWay } = controlled({ inAll: 4, concurrency: 4 });
  await add('a', 4);
  await add('b', 2);
  assert.equal(underWay('b').length, 0);
  await end('a', 1);
  assert.equal(underWay('b').length, 1);
});

test('the queue is idle when nothing is under way, claimed or waiting', async () => {
  const { batches, add, end, idled } = controlled({ concurrency: 4 });
  assert.equal(batches.isIdle, true);
  await add('a', 4);
  let isIdle = false;
  const idle = batches.idle().then(() => (isIdle = true));
  await end('a', 3);
  assert.deepEqual([isIdle, batches.isIdle, idled], [false, false, []]);
  await end('a', 1);
  await idle;
  assert.deepEqual([batches.isIdle, idled], [true, ['a']]);
});

test('a permit that is released early starts the next item before the current one has ended', async () => {
  const { batches, running, add, settle } = controlled({ concurrency: 1, claimMin: 1 });
  await add('a', 2);
  const [first] = running;
  assert.equal(first?.hasBacklog(), true);
  first?.release();
  first?.release();
  await settle();
  assert.equal(running.length, 2, 'a second release does nothing');
  for (const { end } of running) end();
  await batches.idle();
});

test('prefetched items run as permits become free, without a claim for each', async () => {
  const { add, end, claims, underWay } = controlled({ concurrency: 2, prefetch: 6, canPutBack: true });
  await add('a', 8);
  assert.deepEqual([claims, underWay('a').length], [[['a', 8]], 2]);
  for (let count = 0; count < 3; count += 1) await end('a', 1);
  assert.deepEqual([claims.filter(([, count]) => count > 0).length, underWay('a').length], [1, 2]);
});

test('a permit stays with its key for claimed items, and then goes to the key that waits', async () => {
  const { add, end, underWay } = controlled({ inAll: 1, concurrency: 1, prefetch: 2, claimMin: 1, canPutBack: true });
  await add('a', 3);
  await add('b', 1);
  for (let count = 0; count < 2; count += 1) await end('a', 1);
  assert.deepEqual([underWay('a').length, underWay('b').length], [1, 0]);
  await end('a', 1);
  assert.deepEqual([underWay('a').length, underWay('b').length], [0, 1]);
});

test('a permit of another class than the key has now is released, not reused', async () => {
  let scope = 'unproven';
  const { add, end, limiter, underWay } = controlled({
    inAll: 1,
    concurrency: 1,
    prefetch: 2,
    claimMin: 1,
    canPutBack: true,
    scopeOf: () => scope,
  });
  await add('a', 3);
  scope = 'quick';
  await end('a', 1);
  assert.equal(underWay('a').length, 1);
  assert.equal(limiter.tryAcquire('unproven'), 1, 'it is available to unproven keys');
});

test('prefetched items are put back after two seconds without a permit, and at once on stop', async () => {
  const { batches, clock, add, end, putBack, due, underWay } = controlled({
    concurrency: 1,
    prefetch: 3,
    canPutBack: true,
  });
  await add('a', 3);
  await clock.advance(1_999);
  assert.deepEqual(putBack, []);
  await clock.advance(1);
  assert.equal(putBack.length, 2);
  await add('a', 0);
  batches.stop();
  assert.deepEqual([putBack.length, due.get('a'), underWay('a').length], [4, 2, 1]);
  assert.equal(batches.schedule('a'), false, 'another process has to run it');
  await end('a', 1);
  await batches.idle();
});

test('items that are added run like claimed ones, and there is room for as many as a claim may have', async () => {
  const { batches, underWay, end, claims } = controlled({ concurrency: 2, prefetch: 3 });
  assert.equal(batches.room('a'), 5);
  batches.add('a', ['a', 'a', 'a']);
  assert.deepEqual([underWay('a').length, batches.room('a'), batches.room('b')], [2, 2, 5]);
  await end('a', 3);
  await end('a', 3);
  assert.deepEqual([underWay('a').length, batches.isIdle, claims.length], [0, true, 0]);
});

test('there is no room beside a backlog, nor once it has stopped, when what is added is put back', async () => {
  const { batches, add, underWay, end, putBack } = controlled({ concurrency: 2, prefetch: 3, canPutBack: true });
  await add('a', 9);
  await end('a', 1);
  assert.ok(underWay('a').length > 0);
  assert.equal(batches.room('a'), 0);
  batches.stop();
  assert.equal(batches.room('b'), 0);
  const before = putBack.length;
  batches.add('b', ['b']);
  assert.deepEqual([underWay('b').length, putBack.length - before], [0, 1]);
});
