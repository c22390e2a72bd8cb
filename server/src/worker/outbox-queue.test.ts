import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { openTestDatabase } from '../../../test/harness/open-test-database.ts';
import { completeWork, enqueue } from '../events/outbox.ts';
import type { Work } from '../events/work.ts';
import type { ClaimTiming } from '../kit/pace.ts';
import type { Database } from '../kit/db.ts';
import { uuidV7 } from '../kit/ids.ts';
import { KeyedRunner } from '../kit/keyed-runner.ts';
import { createServiceLog } from '../api/service-log.ts';
import { seededRandom } from '../kit/random.ts';
import { createBusiness } from '../merchants/create-business.ts';
import { outboxQueue, workKey, type WorkHandler, type WorkPace } from './outbox-queue.ts';

let database: TestDatabase;
let db: Database;
let clock: ManualClock;
let merchantId: string;
let logged: string[];

const random = seededRandom('outbox source');
const newId = (): string => uuidV7(clock, random);
const running = new AbortController().signal;
const queue = 'network:wave:starts';
const keyOf = (owner: string): string => workKey({ queue, merchantId: owner });

before(async () => {
  database = await createTestDatabase();
  db = openTestDatabase(database);
});

beforeEach(async () => {
  clock = new ManualClock();
  logged = [];
  await db.run({ name: 'test_empty', text: 'DELETE FROM outbox', values: [] });
  merchantId = await newMerchant();
});

after(async () => {
  await db.close();
  await database.drop();
});

async function newMerchant(): Promise<string> {
  const business = await db.withTransaction((tx) => createBusiness(tx, { clock, random, newId }, { name: 'Shop' }));
  return business.test.id;
}

/** Runs the queue as a worker does, until nothing is under way. */
function working(start: WorkHandler, { onClock = clock, pace }: QueueOptions = {}) {
  const log = createServiceLog({ level: 'info', write: (line) => logged.push(line) });
  const inner = outboxQueue({
    db,
    clock: onClock,
    log,
    name: 'the work',
    topicKind: 'work',
    queues: ['network:wave:look-ups', queue, 'network:aps:starts'],
    handlers: { start_charge: start },
    ...(pace && { pace }),
  });
  let signal = running;
  const runner = new KeyedRunner((key) => inner.run(key, signal), inner.keysMax);
  const schedule = (key: string): void => runner.schedule(key);
  inner.batches.attach(schedule);
  return {
    ...inner,
    /** As a hint or a poll does. */
    schedule,
    run: async (key: string, stopped: AbortSignal = running): Promise<void> => {
      signal = stopped;
      stopped.addEventListener('abort', () => inner.batches.stop());
      runner.schedule(key);
      do {
        await runner.idle();
        await inner.batches.idle();
      } while (!runner.isIdle);
    },
  };
}

interface QueueOptions {
  onClock?: ManualClock;
  pace?: WorkPace;
}

async function enqueueWork(count = 1, owner = merchantId): Promise<string[]> {
  const subjects = Array.from({ length: count }, newId);
  await db.withTransaction(async (tx) => {
    for (const subjectId of subjects) {
      const work = { merchantId: owner, queue, kind: 'start_charge', subjectId } as const;
      enqueue(tx, { clock, notifyWorker: () => {} }, work);
    }
  });
  return subjects;
}

async function dueAfterMs(): Promise<number[]> {
  const rows = await db.rows<{ dueAt: Date }>({
    name: 'test_due',
    text: 'SELECT due_at AS "dueAt" FROM outbox WHERE merchant_id = $1 ORDER BY due_at',
    values: [merchantId],
  });
  return rows.map(({ dueAt }) => dueAt.getTime() - clock.now().getTime());
}

test('all due work is done once, also more than one claim returns', async () => {
  const subjects = await enqueueWork(50);
  const done: string[] = [];
  let sideBySide = 0;
  let most = 0;
  const { run, listDueKeys } = working(async (work) => {
    sideBySide += 1;
    most = Math.max(most, sideBySide);
    await completeWork(db, work);
    done.push(work.subjectId);
    sideBySide -= 1;
  });
  assert.deepEqual(await listDueKeys(), [keyOf(merchantId)]);
  await run(keyOf(merchantId), running);
  assert.deepEqual(done.toSorted(), subjects.toSorted());
  assert.ok(most > 1 && most <= 16, `${most} side by side`);
  assert.deepEqual(await listDueKeys(), []);
});

test('failed work is postponed twice as long each time, up to a minute, and logged without its subject', async () => {
  await enqueueWork();
  const { run } = working(() => Promise.reject(new Error('no network for 7001234')));
  for (const delayMs of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
    await run(keyOf(merchantId), running);
    assert.deepEqual(await dueAfterMs(), [delayMs]);
    await clock.advance(delayMs);
  }
  assert.match(logged.join(), /work failed and will be tried again/);
  assert.doesNotMatch(logged.join(), /7001234/);
});

test('work of a kind without a handler is not lost', async () => {
  await db.withTransaction(async (tx) => {
    const work = { merchantId, queue, kind: 'cancel_charge', subjectId: newId() } as const;
    enqueue(tx, { clock, notifyWorker: () => {} }, work);
  });
  await working(() => assert.fail('it is another kind')).run(keyOf(merchantId), running);
  assert.deepEqual(await dueAfterMs(), [1_000]);
  assert.match(logged.join(), /no handler for cancel_charge/);
});

test('a call that hangs delays no other work of its merchant, neither due nor enqueued meanwhile', async () => {
  const [hanging] = await enqueueWork();
  const mayEnd = Promise.withResolvers<void>();
  const done: string[] = [];
  const { run, schedule } = working(async (work) => {
    if (work.subjectId === hanging) await mayEnd.promise;
    await completeWork(db, work);
    done.push(work.subjectId);
  });
  // More than is claimed at once, behind the one that hangs.
  await enqueueWork(20);
  const allDone = run(keyOf(merchantId), running);
  await eventually('due work is done', () => done.length === 20);
  const [later] = await enqueueWork();
  assert.ok(later !== undefined);
  await eventually('work enqueued meanwhile is done', async () => {
    schedule(keyOf(merchantId));
    await clock.advance(5);
    return done.includes(later);
  });
  mayEnd.resolve();
  await allDone;
  assert.equal(done.at(-1), hanging);
});

test('two workers on one database never do the same work', async () => {
  const subjects = await enqueueWork(60);
  const done: string[] = [];
  const handler = async (work: Work): Promise<void> => {
    done.push(work.subjectId);
    await completeWork(db, work);
  };
  await Promise.all([
    working(handler).run(keyOf(merchantId), running),
    working(handler).run(keyOf(merchantId), running),
    working(handler).run(keyOf(merchantId), running),
  ]);
  assert.deepEqual(done.toSorted(), subjects.toSorted());
});

test('work that a dead worker had claimed is done by another when its lease ends', async () => {
  const [subject] = await enqueueWork();
  const died = working(() => new Promise(() => {}));
  void died.run(keyOf(merchantId), running);
  await eventually('it is claimed', async () => (await dueAfterMs())[0] === 60_000);
  const done: string[] = [];
  const { run, listDueKeys } = working(async (work) => {
    done.push(work.subjectId);
    await completeWork(db, work);
  });
  await clock.advance(59_999);
  assert.deepEqual(await listDueKeys(), []);
  await clock.advance(1);
  await run(keyOf(merchantId), running);
  assert.deepEqual(done, [subject]);
});

test('a stopping worker claims nothing more and finishes what it has started', async () => {
  await enqueueWork(40);
  const stopping = new AbortController();
  let done = 0;
  const { run } = working(async (work) => {
    stopping.abort();
    await completeWork(db, work);
    done += 1;
  });
  await run(keyOf(merchantId), stopping.signal);
  assert.equal(done, 16, 'the first claim');
  assert.equal((await dueAfterMs()).length, 24, 'the rest is due for another process');
});

test('merchants whose calls all hang delay no other merchant', async () => {
  const hanging = await Promise.all(Array.from({ length: 20 }, () => newMerchant()));
  for (const owner of hanging) await enqueueWork(16, owner);
  const mayEnd = Promise.withResolvers<void>();
  let paid = false;
  const { run, schedule } = working(async (work) => {
    if (work.merchantId !== merchantId) await mayEnd.promise;
    else paid = true;
    await completeWork(db, work);
  });
  const [first, ...others] = hanging;
  assert.ok(first);
  const allDone = run(keyOf(first), running);
  for (const owner of others) schedule(keyOf(owner));
  await enqueueWork();
  schedule(keyOf(merchantId));
  await eventually('the other merchant’s work is done', () => paid);
  mayEnd.resolve();
  await allDone;
});

test('a queue that is full of calls that hang delays no work of the same merchant in another queue', async () => {
  await enqueueWork(20);
  const mayEnd = Promise.withResolvers<void>();
  let isDone = false;
  const { run, schedule } = working(async (work) => {
    if (work.queue === queue) await mayEnd.promise;
    else isDone = true;
    await completeWork(db, work);
  });
  const allDone = run(keyOf(merchantId), running);
  const other = { merchantId, queue: 'network:aps:starts' } as const;
  await db.withTransaction(async (tx) => {
    enqueue(tx, { clock, notifyWorker: () => {} }, { ...other, kind: 'start_charge', subjectId: newId() });
  });
  schedule(workKey(other));
  await eventually('the work in the other queue is done', () => isDone);
  mayEnd.resolve();
  await allDone;
});

test('a hint for a queue that is not worked here, or of another version, does nothing', async () => {
  await enqueueWork();
  const { run } = working(() => assert.fail('this queue is not worked here'));
  await run(workKey({ merchantId, queue: 'webhooks' }), running);
  await run(merchantId, running);
  assert.deepEqual(await dueAfterMs(), [0]);
});

test('a merchant is found by its own due work and worked separately', async () => {
  const other = await newMerchant();
  await enqueueWork(1, merchantId);
  const [theirs] = await enqueueWork(1, other);
  const done: Work[] = [];
  const { run, listDueKeys } = working(async (work) => {
    done.push(work);
    await completeWork(db, work);
  });
  assert.deepEqual((await listDueKeys()).toSorted(), [keyOf(merchantId), keyOf(other)].toSorted());
  await run(keyOf(other), running);
  assert.deepEqual(
    done.map(({ subjectId }) => subjectId),
    [theirs],
  );
  assert.deepEqual(await listDueKeys(), [keyOf(merchantId)]);
});

test('a merchant’s tasks go up to 64 at once while their calls are answered quickly', async () => {
  await enqueueWork(100);
  const mayEnd = Promise.withResolvers<void>();
  let [underWay, most] = [0, 0];
  const { run } = working(async (work, watch) => {
    underWay += 1;
    most = Math.max(most, underWay);
    await watch(
      () => Promise.resolve(),
      () => true,
    );
    await mayEnd.promise;
    await completeWork(db, work);
    underWay -= 1;
  });
  const allDone = run(keyOf(merchantId));
  await eventually('64 are under way', () => underWay === 64);
  mayEnd.resolve();
  await allDone;
  assert.equal(most, 64);
});

test('a merchant’s tasks stay at sixteen at once while their calls take seconds', async () => {
  await enqueueWork(100);
  let [underWay, most] = [0, 0];
  const { run } = working(async (work, watch) => {
    underWay += 1;
    most = Math.max(most, underWay);
    await watch(
      () => clock.advance(2_000),
      () => true,
    );
    await completeWork(db, work);
    underWay -= 1;
  });
  await run(keyOf(merchantId));
  assert.equal(most, 16);
});

/** What the claim of a task says that has been due for six seconds, after others that took so long, one by one. */
async function claimAfter({ ownMs, callMs }: { ownMs: number; callMs: number }): Promise<ClaimTiming | undefined> {
  const timings: ClaimTiming[] = [];
  const pace: WorkPace = {
    noteClaim: (scope, timing) => {
      assert.deepEqual(scope, { queue, merchantId });
      timings.push(timing);
    },
    expire: () => {},
  };
  const { run } = working(
    async (work, watch) => {
      await clock.advance(ownMs);
      await watch(
        () => clock.advance(callMs),
        () => true,
      );
      await completeWork(db, work);
    },
    { pace },
  );
  for (let task = 0; task < 3; task += 1) {
    await enqueueWork(1);
    await clock.advance(6_000);
    await run(keyOf(merchantId));
  }
  return timings.findLast(({ count }) => count > 0);
}

test('a claim says how late its tasks are, and that the process is why where they spend their time in it', async () => {
  const timing = await claimAfter({ ownMs: 300, callMs: 300 });
  assert.deepEqual(timing, { count: 1, lateMs: 6_000, isOwnDelay: true });
});

test('a claim says that the process is not why its tasks are late if they wait for their calls', async () => {
  for (const callMs of [300, 30_000]) {
    const timing = await claimAfter({ ownMs: 50, callMs });
    assert.deepEqual(timing, { count: 1, lateMs: 6_000, isOwnDelay: false });
  }
});
