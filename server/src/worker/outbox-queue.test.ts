import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { createTestDatabase } from '../../../test/harness/database.ts';
import type { TestDatabase } from '../../../test/harness/database.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { openTestDatabase } from '../../../test/harness/open-test-database.ts';
import { completeWork, enqueue } from '../events/outbox.ts';
import type { Work } from '../events/work.ts';
import type { Database } from '../kit/db.ts';
import { uuidV7 } from '../kit/ids.ts';
import { KeyedRunner } from '../kit/keyed-runner.ts';
import { createLog } from '../kit/log.ts';
import { seededRandom } from '../kit/random.ts';
import { createBusiness } from '../merchants/create-business.ts';
import { outboxQueue, workKey } from './outbox-queue.ts';
import type { WorkHandler } from './outbox-queue.ts';

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

/** Run as a worker runs it: again when it asks for it, until nothing is under way. */
function working(start: WorkHandler, { onClock = clock, workBatch }: QueueOptions = {}) {
  const log = createLog({ level: 'info', write: (line) => logged.push(line) });
  const inner = outboxQueue({
    db,
    clock: onClock,
    log,
    name: 'the work',
    topicKind: 'work',
    queues: ['network:wave:look-ups', queue, 'network:aps:starts'],
    handlers: { start_charge: start },
    ...(workBatch && { workBatch }),
  });
  let signal = running;
  const runner = new KeyedRunner((key) => inner.run(key, signal), inner.keysMax);
  const schedule = (key: string): void => runner.schedule(key);
  inner.batches.attach(schedule);
  return {
    ...inner,
    /** As a hint does, and each look. */
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
  workBatch?: (merchantId: string) => Promise<boolean>;
}

async function ask(count = 1, owner = merchantId): Promise<string[]> {
  const subjects = Array.from({ length: count }, newId);
  await db.withTransaction(async (tx) => {
    for (const subjectId of subjects) {
      const work = { merchantId: owner, queue, kind: 'start_charge', subjectId } as const;
      enqueue(tx, { clock, newId, notifyWorker: () => {} }, work);
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

test('all that is due is done, more than is claimed at once too, each once', async () => {
  const subjects = await ask(50);
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

test('work that fails is put off, twice as long each time and at most a minute, and logged without what it was about', async () => {
  await ask();
  const { run } = working(() => Promise.reject(new Error('no network for 7001234')));
  for (const delayMs of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
    await run(keyOf(merchantId), running);
    assert.deepEqual(await dueAfterMs(), [delayMs]);
    await clock.advance(delayMs);
  }
  assert.match(logged.join(), /work failed and will be tried again/);
  assert.doesNotMatch(logged.join(), /7001234/);
});

test('work of a kind that nobody handles is not lost', async () => {
  await db.withTransaction(async (tx) => {
    const work = { merchantId, queue, kind: 'cancel_charge', subjectId: newId() } as const;
    enqueue(tx, { clock, newId, notifyWorker: () => {} }, work);
  });
  await working(() => assert.fail('it is another kind')).run(keyOf(merchantId), running);
  assert.deepEqual(await dueAfterMs(), [1_000]);
  assert.match(logged.join(), /nobody handles cancel_charge/);
});

test('a call that hangs holds up nothing else of its merchant: not what is due, not what is asked for meanwhile', async () => {
  const [hanging] = await ask();
  const mayAnswer = Promise.withResolvers<void>();
  const done: string[] = [];
  const { run, schedule } = working(async (work) => {
    if (work.subjectId === hanging) await mayAnswer.promise;
    await completeWork(db, work);
    done.push(work.subjectId);
  });
  // More than is claimed at once, behind the one that hangs.
  await ask(20);
  const allDone = run(keyOf(merchantId), running);
  await eventually('what was due is done', () => done.length === 20);
  const [later] = await ask();
  assert.ok(later !== undefined);
  await eventually('what was asked for meanwhile is done', async () => {
    schedule(keyOf(merchantId));
    await clock.advance(5);
    return done.includes(later);
  });
  mayAnswer.resolve();
  await allDone;
  assert.equal(done.at(-1), hanging);
});

test('two workers on one database never do the same work', async () => {
  const subjects = await ask(60);
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

test('what a worker had claimed when it died is done by another when its lease ends', async () => {
  const [subject] = await ask();
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

test('a worker that is to stop claims nothing more and ends what it has begun', async () => {
  await ask(40);
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

test('merchants whose calls all hang keep no other merchant waiting', async () => {
  const hanging = await Promise.all(Array.from({ length: 20 }, () => newMerchant()));
  for (const owner of hanging) await ask(16, owner);
  const mayAnswer = Promise.withResolvers<void>();
  let paid = false;
  const { run, schedule } = working(async (work) => {
    if (work.merchantId !== merchantId) await mayAnswer.promise;
    else paid = true;
    await completeWork(db, work);
  });
  const [first, ...others] = hanging;
  assert.ok(first);
  const allDone = run(keyOf(first), running);
  for (const owner of others) schedule(keyOf(owner));
  await ask();
  schedule(keyOf(merchantId));
  await eventually('the other merchant’s work is done', () => paid);
  mayAnswer.resolve();
  await allDone;
});

test('a queue that is full of calls that hang delays no work of the same merchant in another queue', async () => {
  await ask(20);
  const mayAnswer = Promise.withResolvers<void>();
  let isDone = false;
  const { run, schedule } = working(async (work) => {
    if (work.queue === queue) await mayAnswer.promise;
    else isDone = true;
    await completeWork(db, work);
  });
  const allDone = run(keyOf(merchantId), running);
  const other = { merchantId, queue: 'network:aps:starts' } as const;
  await db.withTransaction(async (tx) => {
    enqueue(tx, { clock, newId, notifyWorker: () => {} }, { ...other, kind: 'start_charge', subjectId: newId() });
  });
  schedule(workKey(other));
  await eventually('the work in the other queue is done', () => isDone);
  mayAnswer.resolve();
  await allDone;
});

test('a hint for a queue that is not ours, or of another version, does nothing', async () => {
  await ask();
  const { run } = working(() => assert.fail('nothing was asked of us'));
  await run(workKey({ merchantId, queue: 'webhooks' }), running);
  await run(merchantId, running);
  assert.deepEqual(await dueAfterMs(), [0]);
});

test('merchants are found by their own due work, and each is worked alone', async () => {
  const other = await newMerchant();
  await ask(1, merchantId);
  const [theirs] = await ask(1, other);
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

test('batches follow each other as long as there may be more', async () => {
  await ask();
  const batches: string[] = [];
  const workBatch = async (merchant: string): Promise<boolean> => batches.push(merchant) < 3;
  await working(() => assert.fail('it is done in batches'), { workBatch }).run(keyOf(merchantId));
  assert.deepEqual(batches, [merchantId, merchantId, merchantId]);
});

test('a batch that fails is logged and done piece by piece, so that one bad piece holds up no other', async () => {
  const subjects = await ask(2);
  const done: string[] = [];
  const pieceByPiece = async (work: Work): Promise<void> => {
    done.push(work.subjectId);
    await completeWork(db, work);
  };
  const workBatch = () => Promise.reject(new Error('a bad piece'));
  await working(pieceByPiece, { workBatch }).run(keyOf(merchantId));
  assert.deepEqual(done.toSorted(), subjects.toSorted());
  assert.match(logged.join(), /a bad piece.*a batch of the work failed/s);
});

test('once it is to stop, no further batch is taken', async () => {
  const stopping = new AbortController();
  let batches = 0;
  const workBatch = async (): Promise<boolean> => {
    batches += 1;
    stopping.abort();
    return true;
  };
  await working(() => assert.fail('it is done in batches'), { workBatch }).run(keyOf(merchantId), stopping.signal);
  assert.equal(batches, 1);
});
