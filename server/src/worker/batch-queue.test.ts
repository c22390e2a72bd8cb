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

/** A queue with items that end when the test says so. */
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
    for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
  };
  const underWay = (key: string) => running.filter((entry) => entry.key === key);
  return {
    ...{ batches, limiter, clock, due, claims, running, putBack, idled, settle, underWay },
    /** There is so much more to do for the key. */
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

test('a key has its own limit, and all keys together have theirs', async () => {
  const { add, underWay } = controlled({ inAll: 20 });
  for (const key of ['a', 'b', 'c', 'd']) await add(key, 10);
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((key) => underWay(key).length),
    [8, 8, 4, 0],
  );
});

test('permits that were taken and not used are there for others at once', async () => {
  const { add, underWay, limiter } = controlled({ inAll: 8 });
  await add('a', 2);
  assert.equal(limiter.inUse, 2);
  await add('b', 8);
  assert.equal(underWay('b').length, 6);
});

test('a key that had more to do claims again when there is room worth a claim, and once', async () => {
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
  assert.equal(claims.length, 3, 'once more, for the two that were left');
});

test('what is announced is claimed while there is any room', async () => {
  const { add, underWay } = controlled();
  for (let count = 0; count < 8; count += 1) await add('a', 1);
  assert.equal(underWay('a').length, 8);
});

test('a key whose last item ends claims again, however small its share', async () => {
  const { add, end, claims } = controlled({ concurrency: 2 });
  await add('a', 3);
  await end('a', 1);
  assert.equal(claims.length, 1);
  await end('a', 1);
  assert.deepEqual(claims.at(-1), ['a', 1]);
});

test('a key that found no permit gets one when anybody’s item ends', async () => {
  const { add, end, underWay } = controlled({ inAll: 4, concurrency: 4 });
  await add('a', 4);
  await add('b', 2);
  assert.equal(underWay('b').length, 0);
  await end('a', 1);
  assert.equal(underWay('b').length, 1);
});

test('it is idle when nothing is under way, claimed or waiting', async () => {
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

test('a permit that is released early is there for the next item while the one before is written down', async () => {
  const { batches, running, add, settle } = controlled({ concurrency: 1, claimMin: 1 });
  await add('a', 2);
  const [first] = running;
  assert.equal(first?.hasBacklog(), true);
  first?.release();
  first?.release();
  await settle();
  assert.equal(running.length, 2, 'released twice it counts once');
  for (const { end } of running) end();
  await batches.idle();
});

test('what is claimed ahead is run as permits come free, and without a claim for each', async () => {
  const { add, end, claims, underWay } = controlled({ concurrency: 2, prefetch: 6, canPutBack: true });
  await add('a', 8);
  assert.deepEqual([claims, underWay('a').length], [[['a', 8]], 2]);
  for (let count = 0; count < 3; count += 1) await end('a', 1);
  assert.deepEqual([claims.filter(([, count]) => count > 0).length, underWay('a').length], [1, 2]);
});

test('a permit stays with its key for what is claimed, and then goes to the key that waits', async () => {
  const { add, end, underWay } = controlled({ inAll: 1, concurrency: 1, prefetch: 2, claimMin: 1, canPutBack: true });
  await add('a', 3);
  await add('b', 1);
  for (let count = 0; count < 2; count += 1) await end('a', 1);
  assert.deepEqual([underWay('a').length, underWay('b').length], [1, 0]);
  await end('a', 1);
  assert.deepEqual([underWay('a').length, underWay('b').length], [0, 1]);
});

test('a permit of another class than the key has now is not kept for what is claimed', async () => {
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
  assert.equal(limiter.tryAcquire('unproven'), 1, 'it is there for whoever is unproven');
});

test('what was claimed ahead goes back after two seconds without a permit, and at once when it stops', async () => {
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
  assert.equal(batches.schedule('a'), false, 'another process has to look');
  await end('a', 1);
  await batches.idle();
});
