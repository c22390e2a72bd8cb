import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { genericPlans } from '../../../test/harness/explain.ts';
import { clearPayerOfIntents } from './queries/intents.ts';

let database: TestDatabase;

before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

const customer = { merchantId: '01a1f8ac-4b37-7417-9fed-11d78420f713', id: '01a1f8ac-4b37-7417-9fed-11d78420f714' };

test('payments are cleared without a join, also while the statistics know an empty table', async () => {
  await database.asOwner('ANALYZE payment_intents');
  const [plan = ''] = await genericPlans(database, (requested) => clearPayerOfIntents(requested, customer, 5_000));
  assert.match(plan, /Update on payment_intents/);
  assert.doesNotMatch(plan, /Join|Nested Loop/, 'a nested loop reads the batch again for each payment');
});
