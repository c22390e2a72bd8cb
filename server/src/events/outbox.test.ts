import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { databaseError } from '../../../test/harness/database-error.ts';
import { genericPlans } from '../../../test/harness/explain.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { openTestDatabase } from '../../../test/harness/open-test-database.ts';
import { withAdminClient } from '../database/admin-client.ts';
import { addMs } from '../kit/clock.ts';
import type { Database, Queryable, Statement } from '../kit/db.ts';
import { DueFloors } from '../kit/due-floors.ts';
import { uuidV7 } from '../kit/ids.ts';
import { seededRandom } from '../kit/random.ts';
import {
  cancelWork,
  claimWork,
  completeWork,
  enqueue,
  networkQueue,
  postponeWork,
  summarizeBacklog,
  sweepDueWork,
  type WorkContext,
} from './outbox.ts';
import type { NewWork, QueueName, Work } from './work.ts';
import { createBusiness } from '../merchants/create-business.ts';

let database: TestDatabase;
let db: Database;
let clock: ManualClock;
let merchantId: string;
let notified: unknown[];
let context: WorkContext;

const random = seededRandom('outbox');
const minuteMs = 60_000;
const leaseMs = minuteMs;
const subject = '01939f00-0000-7000-8000-000000000001';
const queue = networkQueue({ network: 'wave', testMode: true }, 'look-ups');
const networksMerchant = () => ({ merchantId, queue });

before(async () => {
  database = await createTestDatabase();
  db = openTestDatabase(database, { connectionsMax: 6 });
});

beforeEach(async () => {
  clock = new ManualClock();
  notified = [];
  context = { clock, newId: () => uuidV7(clock, random), notifyWorker: (work) => notified.push(work) };
  await db.run({ name: 'test_empty', text: 'DELETE FROM outbox', values: [] });
  merchantId = await newMerchant();
});

after(async () => {
  await db.close();
  await database.drop();
});

/** What the first sweep of a worker finds. */
async function dueWork(from: Queryable, queues: readonly QueueName[]): Promise<Pick<Work, 'merchantId' | 'queue'>[]> {
  const due = await sweepDueWork(from, queues, new DueFloors().nextSweep(clock.now()));
  return due.map(({ merchantId: id, queue: name }) => ({ merchantId: id, queue: name }));
}

async function newMerchant(): Promise<string> {
  const make = { clock, random, newId: () => uuidV7(clock, random) };
  const business = await db.withTransaction((tx) => createBusiness(tx, make, { name: 'Shop' }));
  return business.test.id;
}

function query(changes: Partial<NewWork> = {}): Promise<void> {
  const work = { merchantId, queue, kind: 'look_up_charge', subjectId: subject, ...changes } as const;
  return db.withTransaction(async (tx) => enqueue(tx, context, work));
}

function claim(rowsMax = 10, owner = merchantId): Promise<Work[]> {
  const now = clock.now();
  return claimWork(db, { merchantId: owner, queue, now, leaseEndsAt: addMs(now, leaseMs), rowsMax });
}

async function claimOne(): Promise<Work> {
  const [work, ...others] = await claim();
  assert.ok(work && others.length === 0);
  return work;
}

test('work is stored with the change that needs it, and a worker is notified after the commit', async () => {
  await db.withTransaction(async (tx) => {
    enqueue(tx, context, { merchantId, queue, kind: 'start_charge', subjectId: subject });
    assert.deepEqual(notified, []);
  });
  assert.deepEqual(notified, [networksMerchant()]);
  const work = await claimOne();
  assert.deepEqual(
    [work.kind, work.subjectId, work.attempts, work.createdAt],
    ['start_charge', subject, 1n, clock.now()],
  );
});

test('work of a change that is rolled back is neither stored nor announced', async () => {
  const rolledBack = db.withTransaction(async (tx) => {
    enqueue(tx, context, { merchantId, queue, kind: 'start_charge', subjectId: subject });
    throw new Error('rolled back');
  });
  await assert.rejects(rolledBack, /rolled back/);
  assert.deepEqual(notified, []);
  assert.deepEqual(await claim(), []);
});

test('future work notifies no worker and is not claimed before its time', async () => {
  await query({ dueAt: addMs(clock.now(), 5_000) });
  assert.deepEqual(notified, []);
  await clock.advance(4_999);
  assert.deepEqual(await claim(), []);
  await clock.advance(1);
  await claimOne();
});

test('two requests for the same work store one task, due at the earlier time', async () => {
  await query({ dueAt: addMs(clock.now(), 5_000) });
  await query({ dueAt: addMs(clock.now(), 9_000) });
  await query({ dueAt: addMs(clock.now(), 2_000) });
  await clock.advance(2_000);
  await claimOne();
});

test('completed work is deleted', async () => {
  await query();
  await completeWork(db, await claimOne());
  await clock.advance(leaseMs);
  assert.deepEqual(await claim(), []);
});

test('work requested again while it runs, runs once more afterwards', async () => {
  await query();
  const first = await claimOne();
  await query();
  await completeWork(db, first);
  const second = await claimOne();
  assert.equal(second.attempts, 2n);
  await completeWork(db, second);
  assert.deepEqual(await claim(), []);
});

test('work requested again while it runs cannot be postponed by the first run', async () => {
  await query();
  const first = await claimOne();
  await query();
  await postponeWork(db, first, addMs(clock.now(), 3_600_000));
  await claimOne();
});

test('postponed work becomes due again at its new time', async () => {
  await query();
  await postponeWork(db, await claimOne(), addMs(clock.now(), 7_000));
  await clock.advance(6_999);
  assert.deepEqual(await claim(), []);
  await clock.advance(1);
  assert.equal((await claimOne()).attempts, 2n);
});

test('work of a dead worker is claimed by another after the lease, and the first can no longer end it', async () => {
  await query();
  const dead = await claimOne();
  await clock.advance(leaseMs - 1);
  assert.deepEqual(await claim(), []);
  await clock.advance(1);
  const living = await claimOne();
  await completeWork(db, dead);
  await postponeWork(db, dead, addMs(clock.now(), 3_600_000));
  await clock.advance(leaseMs);
  const third = await claimOne();
  assert.equal(third.attempts, living.attempts + 1n, 'neither call had an effect');
});

test('work that a change makes unnecessary is deleted with that change, also while it is claimed', async () => {
  await query();
  const work = await claimOne();
  await db.withTransaction(async (tx) => cancelWork(tx, work));
  await postponeWork(db, work, clock.now());
  assert.deepEqual(await claim(), []);
});

test('concurrent claims never return the same work', async () => {
  const subjects = Array.from({ length: 40 }, () => uuidV7(clock, random));
  for (const subjectId of subjects) await query({ subjectId });
  const claims = await Promise.all(Array.from({ length: 8 }, () => claim(10)));
  const got = claims.flat().map(({ subjectId }) => subjectId);
  assert.equal(new Set(got).size, got.length);
  const rest = await claim(100);
  assert.deepEqual([...got, ...rest.map(({ subjectId }) => subjectId)].toSorted(), subjects.toSorted());
});

test('a claim returns the longest due work of one merchant and queue, at most as much as requested', async () => {
  const [late, early] = [uuidV7(clock, random), uuidV7(clock, random)];
  await query({ subjectId: late, dueAt: addMs(clock.now(), 2_000) });
  await query({ subjectId: early, dueAt: addMs(clock.now(), 1_000) });
  await clock.advance(3_000);
  await query({ subjectId: subject, queue: 'webhooks', kind: 'plan_deliveries' });
  const other = await newMerchant();
  await query({ merchantId: other });
  assert.deepEqual(
    (await claim(1)).map(({ subjectId }) => subjectId),
    [early],
  );
  assert.deepEqual(
    (await claim(9)).map(({ subjectId }) => subjectId),
    [late],
  );
  const due = await dueWork(db, [queue, 'webhooks', 'network:another:starts']);
  assert.deepEqual(
    due.toSorted((one, another) => one.queue.localeCompare(another.queue)),
    [
      { merchantId: other, queue },
      { merchantId, queue: 'webhooks' },
    ],
  );
  assert.deepEqual(await dueWork(db, ['webhooks']), [{ merchantId, queue: 'webhooks' }]);
});

test('the backlog says how much is due in each queue, and since when', async () => {
  const since = clock.now();
  await query({ subjectId: uuidV7(clock, random), dueAt: addMs(since, -minuteMs) });
  await clock.advance(3_000);
  await query();
  await query({ subjectId: uuidV7(clock, random), dueAt: addMs(clock.now(), 1) });
  await query({ subjectId: uuidV7(clock, random), queue: 'webhooks', dueAt: addMs(clock.now(), 1) });
  const backlog = await summarizeBacklog(db, clock.now());
  assert.deepEqual(
    backlog.toSorted((one, another) => one.queue.localeCompare(another.queue)),
    [
      { queue, count: 2n, oldestDueAt: since, waitingCount: 1n },
      { queue: 'webhooks', count: 0n, oldestDueAt: null, waitingCount: 1n },
    ],
  );
});

test('due work is found whatever else is there: work that is due later, and other queues', async () => {
  const later = addMs(clock.now(), 1);
  const starts = networkQueue({ network: 'wave', testMode: true }, 'starts');
  const requested = [queue, starts];
  const due = async () => (await dueWork(db, requested)).map(({ queue: name }) => name).toSorted();
  await query({ dueAt: later });
  assert.deepEqual(await due(), [], 'one queue, due later');
  await query({ subjectId: uuidV7(clock, random), queue: 'webhooks', kind: 'plan_deliveries' });
  assert.deepEqual(await due(), [], 'another that is due and not requested');
  await query({ subjectId: uuidV7(clock, random), queue: starts });
  assert.deepEqual(await due(), [starts]);
  await clock.advance(1);
  assert.deepEqual(await due(), requested.toSorted());
});

test('a claim reads only the rows it takes, whatever the backlog and the query plan', async () => {
  await withAdminClient(database.adminUrl, async (client) => {
    await client.query(
      `INSERT INTO outbox (merchant_id, kind, subject_id, queue, due_at, attempts, version, created_at)
       SELECT $1, 'plan_deliveries', md5(n::text)::uuid, 'webhooks', $2::timestamptz - n * interval '1 ms', 0, 0, $2
       FROM generate_series(1, 100000) AS n`,
      [merchantId, clock.now()],
    );
    await client.query('ANALYZE outbox');
  });
  const now = clock.now();
  const claimed = { merchantId, queue: 'webhooks', now, leaseEndsAt: addMs(now, leaseMs), rowsMax: 16 } as const;
  const plans = await genericPlans(database, async (requested) => {
    await claimWork(requested, claimed);
  });
  assert.equal(plans.length, 1);
  for (const plan of plans) {
    assert.match(plan, /Index Scan using outbox_due_idx/);
    assert.match(plan, /Index Scan using outbox_pkey/);
    assert.doesNotMatch(plan, /Seq Scan|Bitmap|Sort/, plan);
  }
});

test('while a node of a cluster is away, the work of merchants on the others is found', async () => {
  const others = [await newMerchant(), await newMerchant()];
  for (const each of [merchantId, ...others]) await query({ merchantId: each });
  const isAway = ({ text, values }: Statement): boolean =>
    text.includes('merchant_places') && (!text.includes('WHERE merchant_id =') || values.includes(merchantId));
  const cluster: Queryable = {
    ...{ row: (statement) => db.row(statement), run: (statement) => db.run(statement) },
    rows: async (statement) => {
      if (!isAway(statement)) return db.rows(statement);
      throw databaseError('08006', 'connection to the remote node dalasi@worker-2:5432 failed');
    },
  };
  const found = await dueWork(cluster, [queue, 'webhooks']);
  assert.deepEqual(found.map((each) => each.merchantId).toSorted(), others.toSorted());
});
