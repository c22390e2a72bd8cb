import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { withAdminClient } from './admin-client.ts';
import { placements, type Placement } from './placement.ts';

const ours = `SELECT oid FROM pg_namespace WHERE nspname IN ('public', 'simulator')`;

describe('the placement of tables on a cluster', () => {
  let database: TestDatabase;

  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  const read = <Row extends pg.QueryResultRow>(text: string): Promise<Row[]> =>
    withAdminClient(database.adminUrl, async (client) => (await client.query<Row>(text)).rows);

  test('names every table once, and none that does not exist', async () => {
    const tables = await read<{ name: string }>(
      `SELECT oid::regclass::text AS name FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace IN (${ours})`,
    );
    const names = tables.map(({ name }) => name).toSorted();
    assert.deepEqual([...placements.keys()].toSorted(), names);
  });

  test('spreads a table by a column that every unique index has and no row leaves empty', async () => {
    const indexes = await read<{ table: string; index: string; columns: string[] }>(
      `SELECT x.indrelid::regclass::text AS table, x.indexrelid::regclass::text AS index,
         ARRAY(SELECT a.attname::text FROM pg_attribute a
               WHERE a.attrelid = x.indrelid AND a.attnum = ANY (x.indkey) AND a.attnotnull) AS columns
       FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid WHERE x.indisunique AND c.relnamespace IN (${ours})`,
    );
    const missing = indexes.filter(({ table, columns }) => {
      const placement = placements.get(table);
      return typeof placement === 'object' && !columns.includes(placement.by);
    });
    assert.deepEqual(missing, []);
  });

  test('puts a table beside those that its foreign keys name, or these on every node', async () => {
    const keys = await read<{ from: string; to: string; name: string; columns: string[]; others: string[] }>(
      `SELECT k.conrelid::regclass::text AS from, k.confrelid::regclass::text AS to, k.conname AS name,
         ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = k.conrelid AND attnum = ANY (k.conkey)) AS columns,
         ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = k.confrelid AND attnum = ANY (k.confkey)) AS others
       FROM pg_constraint k WHERE k.contype = 'f' AND k.connamespace IN (${ours})`,
    );
    assert.ok(keys.length > 40, `${keys.length} foreign keys`);
    const refused = keys.filter(
      ({ from, to, columns, others }) => !isAccepted(placements.get(from), placements.get(to), { columns, others }),
    );
    assert.deepEqual(refused, []);
  });
});

function isAccepted(
  from: Placement | undefined,
  to: Placement | undefined,
  { columns, others }: { columns: string[]; others: string[] },
): boolean {
  if (from === undefined || to === undefined) return false;
  if (typeof from === 'object' && typeof to === 'object') {
    return from.by === to.by && columns.includes(from.by) && others.includes(to.by);
  }
  if (typeof to === 'object') return false;
  return to === 'reference' || from === 'coordinator';
}
