import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { blocksRead, genericPlans } from '../../../test/harness/explain.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { openTestDatabase } from '../../../test/harness/open-test-database.ts';
import { withAdminClient } from '../database/admin-client.ts';
import { addMs } from '../kit/clock.ts';
import type { Database } from '../kit/db.ts';
import { searchParts } from '../kit/due-floors.ts';
import { uuidV7 } from '../kit/ids.ts';
import { seededRandom } from '../kit/random.ts';
import { createBusiness } from '../merchants/create-business.ts';
import { claimWork, sweepDueWork } from './outbox.ts';

const random = seededRandom('sweep');
const clock = new ManualClock();
const queue = 'webhooks';
const minuteMs = 60_000;
const now = clock.now();
const lately = { now, from: addMs(now, -10_000), isWhole: false, part: 1 };

let database: TestDatabase;
let db: Database;
let merchantIds: string[];

before(async () => {
  database = await createTestDatabase();
  db = openTestDatabase(database);
  const make = { clock, random, newId: () => uuidV7(clock, random) };
  const business = await db.withTransaction((tx) => createBusiness(tx, make, { name: 'Shop' }));
  merchantIds = [business.test.id, business.live.id];
});
beforeEach(() => database.asOwner('DELETE FROM outbox'));
after(async () => {
  await db.close();
  await database.drop();
});

/** Tasks of a merchant that fell due this long ago, one millisecond after another. */
function fill(merchantId = '', { count = 1, agoMs = 0 }: { count?: number; agoMs?: number }): Promise<unknown> {
  return database.asOwner(
    `INSERT INTO outbox (merchant_id, kind, subject_id, queue, due_at, attempts, version, created_at)
     SELECT $1, 'plan_deliveries', gen_random_uuid(), $2, $3::timestamptz - n * interval '1 ms', 0, 0, $3
     FROM generate_series(1, $4) AS n`,
    [merchantId, queue, addMs(now, -agoMs), count],
  );
}

async function found(part = lately.part): Promise<string[]> {
  return (await sweepDueWork(db, [queue], { ...lately, part })).map(({ merchantId }) => merchantId);
}

test('a sweep finds what fell due lately, and within 64 sweeps what became visible later', async () => {
  const [recent = '', late = ''] = merchantIds;
  await fill(recent, { count: 3, agoMs: 5_000 });
  await fill(late, { agoMs: minuteMs });
  await fill(recent, { agoMs: -minuteMs });
  assert.deepEqual(await found(), [recent]);
  const inParts = new Set<string>();
  for (let part = 0; part < searchParts; part += 1) for (const each of await found(part)) inParts.add(each);
  assert.deepEqual([...inParts].toSorted(), [recent, late].toSorted());
  assert.deepEqual(await sweepDueWork(db, ['notifications'], lately), []);
});

test('a sweep looks at each merchant when more fell due lately than it reads, so a backlog hides nobody', async () => {
  const [flooded = '', other = ''] = merchantIds;
  await fill(other, {});
  await fill(flooded, { count: 3_000, agoMs: 2_000 });
  assert.deepEqual((await found()).toSorted(), [flooded, other].toSorted());
});

test('beside an open snapshot, neither a claim nor a sweep reads the work that is done', async () => {
  const [merchantId = ''] = merchantIds;
  const claim = { merchantId, queue, now, leaseEndsAt: addMs(now, minuteMs), rowsMax: 16 } as const;
  const blocks = await withAdminClient(database.adminUrl, (snapshot) =>
    withAdminClient(database.adminUrl, async (client) => {
      await snapshot.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
      await snapshot.query('SELECT FROM merchants');
      await fill(merchantId, { count: 50_000, agoMs: minuteMs });
      await database.asOwner('DELETE FROM outbox');
      await fill(merchantId, { count: 20 });
      await database.asOwner('ANALYZE outbox');
      return [
        await blocksRead(client, (planned) => claimWork(planned, claim)),
        await blocksRead(client, (planned) => claimWork(planned, { ...claim, from: lately.from })),
        await blocksRead(client, (planned) => sweepDueWork(planned, [queue], { ...lately, isWhole: true })),
        await blocksRead(client, (planned) => sweepDueWork(planned, [queue], lately)),
      ];
    }),
  );
  const [wholeClaim = 0, claimed = 0, wholeSweep = 0, swept = 0] = blocks;
  assert.ok(claimed * 4 < wholeClaim && swept * 4 < wholeSweep, `${blocks.join(', ')} blocks`);
});

test('a sweep reads only what fell due lately, whatever the plan', async () => {
  const [merchantId = ''] = merchantIds;
  await fill(merchantId, { count: 100_000, agoMs: -minuteMs });
  await database.asOwner('ANALYZE outbox');
  const plans = await genericPlans(database, (planned) => sweepDueWork(planned, [queue], lately));
  assert.equal(plans.length, 1);
  // A bitmap of the index's rows is as good as an ordered scan; which of both is cheaper hangs on the sample that ANALYZE takes.
  assert.match(plans[0] ?? '', /Index Scan (?:using|on) outbox_due_lately_idx/);
  assert.match(plans[0] ?? '', /Index Cond: .*due_at.* >= .* AND .*due_at.* <= /);
  assert.doesNotMatch(plans[0] ?? '', /Seq Scan/);
});
