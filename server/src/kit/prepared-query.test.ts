import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestDatabase } from '../../../test/harness/database.ts';
import type { TestDatabase } from '../../../test/harness/database.ts';
import { systemClock } from './clock.ts';
import { openDatabase } from './db.ts';
import type { Database, Statement } from './db.ts';

// One connection, so that each statement but the first is sent without asking for a description of its rows.

let database: TestDatabase;
let db: Database;

before(async () => {
  database = await createTestDatabase();
  await database.asOwner('CREATE TABLE kit_stock (id bigint PRIMARY KEY, name text, counted_at timestamptz)');
  await database.asOwner('GRANT SELECT, INSERT, UPDATE ON kit_stock TO PUBLIC');
  db = openDatabase({ url: database.appUrl, connectionsMax: 1, clock: systemClock, onConnectionError: () => {} });
});

after(async () => {
  await db.close();
  await database.drop();
});

const upsert = (id: bigint, name: unknown, countedAt: Date | null): Statement => ({
  name: 'kit_stock_upsert',
  text: `INSERT INTO kit_stock VALUES ($1, $2, $3)
         ON CONFLICT (id) DO UPDATE SET name = excluded.name, counted_at = excluded.counted_at`,
  values: [id, name, countedAt],
});
const find = (id: bigint): Statement => ({
  name: 'kit_stock_find',
  text: 'SELECT id, name, counted_at AS "countedAt" FROM kit_stock WHERE id = $1',
  values: [id],
});

test('a statement returns its rows each time, alone and among others, also none and rows without columns', async () => {
  const exists = { name: 'kit_stock_exists', text: 'SELECT FROM kit_stock WHERE id = $1', values: [1n] };
  const pens = { id: 1n, name: 'pens', countedAt: null };
  for (const _ of [1, 2, 3]) {
    assert.equal(await db.run(upsert(1n, 'pens', null)), 1);
    assert.deepEqual([await db.row(find(1n)), await db.row(find(2n))], [pens, undefined]);
    assert.deepEqual(await db.rows(exists), [{}]);
    const together = await db.withTransaction((tx) =>
      Promise.all([tx.row(find(1n)), tx.rows(exists), tx.row(find(2n))]),
    );
    assert.deepEqual(together, [pens, [{}], undefined]);
  }
});

test('times are stored to the millisecond, in every year that PostgreSQL has', async () => {
  const zone = process.env['TZ'];
  process.env['TZ'] = 'Asia/Kathmandu';
  try {
    for (const time of ['2026-02-28T23:59:59.999Z', '0001-01-01T00:00:00.000Z', '+010000-01-01T00:00:00.001Z']) {
      await db.run(upsert(3n, null, new Date(time)));
      const text = {
        name: 'kit_stock_text',
        text: 'SELECT extract(epoch FROM counted_at)::text AS s FROM kit_stock WHERE id = 3',
        values: [],
      };
      assert.equal(Number((await db.row<{ s: string }>(text))?.s), Date.parse(time) / 1_000, time);
    }
  } finally {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  }
});

test('a statement without a name is another one each time', async () => {
  const unnamed = (text: string): Statement => ({ name: '', text, values: [6n] });
  assert.deepEqual(await db.row(unnamed('SELECT $1::bigint AS one')), { one: 6n });
  assert.deepEqual(await db.row(unnamed('SELECT $1::bigint + 1 AS two')), { two: 7n });
});

test('a value that cannot be written fails its statement, and the connection goes on', async () => {
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  await db.run(upsert(4n, 'paper', null));
  await assert.rejects(db.run(upsert(4n, circular, null)), TypeError);
  assert.deepEqual(await db.row(find(4n)), { id: 4n, name: 'paper', countedAt: null });
});

test('a statement whose columns have changed since it was described is refused, not misread', async () => {
  const all = { name: 'kit_stock_all', text: 'SELECT * FROM kit_stock WHERE id = $1', values: [5n] };
  await db.run(upsert(5n, 'ink', null));
  assert.deepEqual(await db.row(all), { id: 5n, name: 'ink', counted_at: null });
  await database.asOwner('ALTER TABLE kit_stock DROP COLUMN name');
  await assert.rejects(db.row(all), /cached plan must not change result type/);
});
