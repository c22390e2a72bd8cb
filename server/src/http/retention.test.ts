import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { effort } from '../../../test/harness/effort.ts';
import { genericPlans } from '../../../test/harness/explain.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { openTestDatabase } from '../../../test/harness/open-test-database.ts';
import { addMs } from '../kit/clock.ts';
import type { Database, Transaction } from '../kit/db.ts';
import { uuidV7 } from '../kit/ids.ts';
import { seededRandom } from '../kit/random.ts';
import { createBusiness } from '../merchants/create-business.ts';
import {
  deleteKeysThrough,
  forgetResponsesThrough,
  insertKeyOnce,
  updateKeyResponse,
  listMerchantsWithOldKeys,
} from './queries.ts';
import { purgeIdempotencyKeys } from './retention.ts';

const hourMs = 60 * 60 * 1_000;
const scale = effort({ usual: 1, long: 100 });
const clock = new ManualClock();
const random = seededRandom('retention');

let database: TestDatabase;
let db: Database;
let merchantId: string;

before(async () => {
  database = await createTestDatabase();
  db = openTestDatabase(database, { connectionsMax: 4 });
  const make = { clock, random, newId: () => uuidV7(clock, random) };
  merchantId = (await db.withTransaction((tx) => createBusiness(tx, make, { name: 'Shop' }))).test.id;
});

after(async () => {
  await db.close();
  await database.drop();
});

interface Keys {
  prefix: string;
  count: number;
  createdAt: Date;
  /** Keys that are kept for ever. */
  isPermanent?: boolean;
  hasResponse?: boolean;
  isForgotten?: boolean;
}

function insertKeys(keys: Keys): Promise<unknown> {
  const { prefix, count, createdAt, isPermanent = false, hasResponse = true, isForgotten = false } = keys;
  const text = `INSERT INTO idempotency_keys (merchant_id, path, key, fingerprint, status_code, response, created_at,
                  subject_id, is_forgotten)
                SELECT $1, '/v1/transfers', $2 || n, '', 201, CASE WHEN $6 THEN '\\x00'::bytea END, $3,
                       CASE WHEN $4 THEN md5(n::text)::uuid END, $7
                FROM generate_series(1, $5::integer) AS n`;
  const values = [merchantId, prefix, createdAt, isPermanent, count, hasResponse, isForgotten];
  return database.asOwner(text, values);
}

async function rowsOf(prefix: string): Promise<{ keys: number; responses: number }> {
  const row = await db.row<{ keys: number; responses: number }>({
    name: 'test_keys',
    text: `SELECT count(*)::integer AS keys, count(response)::integer AS responses FROM idempotency_keys
           WHERE merchant_id = $1 AND key LIKE $2 || '%'`,
    values: [merchantId, prefix],
  });
  assert.ok(row);
  return row;
}

async function purgeAll(): Promise<number> {
  let total = 0;
  for (;;) {
    const count = await purgeIdempotencyKeys(db, clock);
    if (count === 0) return total;
    total += count;
  }
}

test('after 72 hours keys are deleted in batches; those that created a record lose their response only', async () => {
  const old = addMs(clock.now(), -72 * hourMs - 1);
  const young = addMs(clock.now(), -72 * hourMs);
  await insertKeys({ prefix: 'old-', count: 1_200 * scale, createdAt: old });
  await insertKeys({ prefix: 'old-paid-', count: 700 * scale, createdAt: old, isPermanent: true });
  await insertKeys({ prefix: 'young-', count: 3, createdAt: young });
  await insertKeys({ prefix: 'young-paid-', count: 2, createdAt: young, isPermanent: true });
  assert.equal(await purgeIdempotencyKeys(db, clock), 1_000, 'a batch of each');
  assert.equal(await purgeAll(), 1_900 * scale - 1_000);
  assert.deepEqual(await rowsOf('old-'), { keys: 700 * scale, responses: 0 });
  assert.deepEqual(await rowsOf('young-'), { keys: 5, responses: 5 });
  assert.equal(await purgeAll(), 0, 'what was forgotten is not looked at again');
  await database.asOwner('DELETE FROM idempotency_keys');
});

test('a response cleared by an earlier version is marked once', async () => {
  const createdAt = addMs(clock.now(), -100 * hourMs);
  await insertKeys({ prefix: 'before-', count: 3, createdAt, isPermanent: true, hasResponse: false });
  assert.equal(await purgeAll(), 3);
  assert.equal(await purgeAll(), 0);
  assert.equal((await rowsOf('before-')).keys, 3);
});

test('a purge skips rows retained for ever, and scans the others from the oldest', async () => {
  const createdAt = addMs(clock.now(), -1_000 * hourMs);
  const forgotten = { isPermanent: true, hasResponse: false, isForgotten: true };
  await insertKeys({ prefix: 'ever-', count: 100_000, createdAt, ...forgotten });
  await insertKeys({ prefix: 'now-', count: 10_000, createdAt: clock.now() });
  await database.asOwner('VACUUM ANALYZE idempotency_keys');
  const plans = await genericPlans(database, async (explain) => {
    await listMerchantsWithOldKeys(explain, clock.now());
    await forgetResponsesThrough(explain, merchantId, clock.now());
    await deleteKeysThrough(explain, merchantId, clock.now());
  });
  assert.equal(plans.length, 3);
  for (const plan of plans) {
    assert.match(plan, /Index Scan using idempotency_keys_unpurged_idx/);
    assert.doesNotMatch(plan, /Seq Scan|Bitmap|Join|Nested Loop/, plan);
  }
});

test('storing the response of a new key updates no index a second time', async () => {
  const count = 20;
  const { all, heapOnly } = await db.withTransaction(async (tx) => {
    const before = await updatesSoFar(tx);
    for (let index = 0; index < count; index += 1) {
      const use = { merchantId, path: '/v1/transfers', key: `new-${index}`, fingerprint: Buffer.alloc(32) };
      await tx.run(insertKeyOnce({ ...use, createdAt: clock.now() }));
      tx.send(updateKeyResponse(use, { statusCode: 201, response: Buffer.alloc(200), subjectId: merchantId }));
    }
    const after = await updatesSoFar(tx);
    return { all: after.all - before.all, heapOnly: after.heapOnly - before.heapOnly };
  });
  assert.equal(all, BigInt(count));
  // On a full page the row moves to another page.
  assert.ok(heapOnly >= 15n, `${heapOnly} of ${count}`);
});

/** This connection's statistics that are not flushed yet. */
async function updatesSoFar(tx: Transaction): Promise<{ all: bigint; heapOnly: bigint }> {
  const row = await tx.row<{ all: bigint; heapOnly: bigint }>({
    name: 'test_updates',
    text: `SELECT n_tup_upd AS all, n_tup_hot_upd AS "heapOnly" FROM pg_stat_xact_user_tables
           WHERE relname = 'idempotency_keys'`,
    values: [],
  });
  return row ?? { all: 0n, heapOnly: 0n };
}
