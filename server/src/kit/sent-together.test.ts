import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { PublicError } from './public-error.ts';
import { systemClock } from './clock.ts';
import { openDatabase, type Database, type Statement, type Transaction } from './db.ts';

let database: TestDatabase;
let db: Database;

before(async () => {
  database = await createTestDatabase();
  db = openDatabase({ url: database.appUrl, connectionsMax: 1, clock: systemClock, onConnectionError: () => {} });
});
after(async () => {
  await db.close();
  await database.drop();
});

/** A statement that fails with the code, as the server would. */
function failing(code: string): Statement {
  const text = `DO $$ BEGIN RAISE EXCEPTION 'asked for' USING ERRCODE = '${code}'; END $$`;
  return { name: `test_fail_${code}`, text, values: [] };
}

const simple: Statement = { name: 'test_harmless', text: 'SELECT 1', values: [] };

/** The second's refusal comes out first, because more waits on the first one. */
async function runTogether(tx: Transaction, first: Statement): Promise<void> {
  const named = async (): Promise<number> => {
    const rows = await tx.run(first);
    return rows;
  };
  const counted = async (): Promise<number> => {
    const rows = await named();
    return rows;
  };
  await Promise.all([counted(), tx.run(simple)]);
}

test('a lock timeout is reported as one, also by a statement that was sent after it', async () => {
  await assert.rejects(
    db.withTransaction((tx) => runTogether(tx, failing('55P03'))),
    (error) => error instanceof PublicError && error.code === 'unavailable',
  );
});

test('a deadlock victim is retried, also when a statement was sent after the failed one', async () => {
  let runs = 0;
  await db.withTransaction(async (tx) => {
    runs += 1;
    await runTogether(tx, runs === 1 ? failing('40P01') : simple);
  });
  assert.equal(runs, 2);
});
