import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { openTestDatabase } from '../../../test/harness/open-test-database.ts';
import type { Database } from '../kit/db.ts';
import { uuidV7 } from '../kit/ids.ts';
import { seededRandom } from '../kit/random.ts';
import { createBusiness } from '../merchants/create-business.ts';
import { countOpenCases, findCaseById, listCases, listCasesOfEnvironment } from './list-cases.ts';
import { openCase } from './open-case.ts';
import type { NewCase } from './case.ts';

let database: TestDatabase;
let db: Database;
let sample: NewCase;

const clock = new ManualClock();
const random = seededRandom('cases');
const newId = (): string => uuidV7(clock, random);

before(async () => {
  database = await createTestDatabase();
  db = openTestDatabase(database, { connectionsMax: 8 });
});

beforeEach(async () => {
  await db.run({ name: 'test_empty', text: 'DELETE FROM cases', values: [] });
  const business = await db.withTransaction((tx) => createBusiness(tx, { clock, random, newId }, { name: 'Shop' }));
  sample = {
    merchantId: business.test.id,
    kind: 'second_success',
    subjectType: 'charge',
    subjectId: newId(),
    reference: 'T1',
    amountMinor: 10_000n,
    currency: 'GMD',
    summary: 'Paid twice.',
  };
});

after(async () => {
  await db.close();
  await database.drop();
});

function open(changes: Partial<NewCase> = {}): Promise<boolean> {
  return db.withTransaction((tx) => openCase(tx, { clock, newId }, { ...sample, ...changes }));
}

test('the same finding opens one case, however often it is reported', async () => {
  assert.equal(await open(), true);
  assert.equal(await open({ summary: 'Paid twice, said again.' }), false);
  const [only, ...others] = await listCases(db, null, 10, null);
  assert.ok(only);
  assert.deepEqual(others, []);
  const { id, ...found } = only;
  const untouched = { status: 'open', createdAt: clock.now(), resolvedAt: null, proposalId: null, resolution: null };
  assert.deepEqual(found, { ...sample, transactionId: 'T1', reportedAgain: 0n, ...untouched });
  assert.deepEqual(await findCaseById(db, id), only);
});

test('another kind, another charge or another transaction is another case', async () => {
  assert.equal(await open(), true);
  assert.equal(await open({ kind: 'amount_mismatch' }), true);
  assert.equal(await open({ subjectId: newId() }), true);
  assert.equal(await open({ reference: 'T2' }), true);
  assert.equal((await listCases(db, 'open', 10, null)).length, 4);
});

test('of many concurrent openings of a case, one opens it and books its money', async () => {
  const opened = await Promise.all(Array.from({ length: 10 }, () => open()));
  assert.equal(opened.filter(Boolean).length, 1);
});

test('a case is rolled back with the change that needs it', async () => {
  const undone = db.withTransaction(async (tx) => {
    await openCase(tx, { clock, newId }, sample);
    throw new Error('undone');
  });
  await assert.rejects(undone, /undone/);
  assert.deepEqual(await listCases(db, null, 10, null), []);
});

test('cases are listed newest first, by status, and open ones counted by kind', async () => {
  await open({ reference: 'T1' });
  await open({ reference: 'T2' });
  await open({ reference: 'T3', kind: 'network_reversal' });
  await db.run({
    name: 'test_resolve',
    text: `UPDATE cases SET status = 'resolved' WHERE reference = 'T2'`,
    values: [],
  });
  const references = async (status: 'open' | 'resolved' | null, rowsMax = 10): Promise<string[]> =>
    (await listCases(db, status, rowsMax, null)).map(({ reference }) => reference);
  assert.deepEqual(await references(null), ['T3', 'T2', 'T1']);
  assert.deepEqual(await references('open'), ['T3', 'T1']);
  assert.deepEqual(await references('resolved'), ['T2']);
  assert.deepEqual(await references(null, 1), ['T3']);
  const counts = await countOpenCases(db);
  const oldest = clock.now();
  assert.deepEqual(
    counts.toSorted((one, other) => (one.kind < other.kind ? -1 : 1)),
    [
      { kind: 'network_reversal', count: 1n, amountMinor: 10_000n, oldest },
      { kind: 'second_success', count: 1n, amountMinor: 10_000n, oldest },
    ],
  );
});

test('cases of test take no place of live ones, nor resolved ones of those that wait', async () => {
  const business = await db.withTransaction((tx) => createBusiness(tx, { clock, random, newId }, { name: 'Shop' }));
  const live = { merchantId: business.live.id };
  for (const reference of ['L1', 'L2', 'L3', 'L4']) await open({ ...live, reference });
  for (const reference of ['T1', 'T2', 'T3']) await open({ reference });
  await db.run({
    name: 'test_resolve_live',
    text: `UPDATE cases SET status = 'resolved' WHERE reference IN ('L3', 'L4')`,
    values: [],
  });
  const references = async (status: 'open' | null, rowsMax: number): Promise<string[]> =>
    (await listCasesOfEnvironment(db, { testMode: false, status, rowsMax })).map(({ reference }) => reference);
  assert.deepEqual(await references(null, 10), ['L1', 'L2', 'L4', 'L3']);
  assert.deepEqual(await references(null, 3), ['L1', 'L2', 'L4']);
  assert.deepEqual(await references('open', 1), ['L1']);
});
