import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { openTestDatabase } from '../../../test/harness/open-test-database.ts';
import { systemClock } from '../kit/clock.ts';
import type { Database } from '../kit/db.ts';
import { stableUuid } from '../kit/ids.ts';
import { claimProviderTransaction } from './provider-transactions.ts';
import type { ProviderTransactionClaim } from './queries.ts';

let database: TestDatabase;
let db: Database;

before(async () => {
  database = await createTestDatabase();
  db = openTestDatabase(database);
});

after(async () => {
  await db.close();
  await database.drop();
});

function claim(transactionId: string, changes: Partial<ProviderTransactionClaim> = {}): Promise<boolean> {
  return claimProviderTransaction(db, systemClock, {
    railAccount: 'rail',
    transactionId,
    kind: 'collection',
    merchantId: stableUuid('merchant'),
    subjectId: stableUuid('charge'),
    ...changes,
  });
}

test('the owner of a provider transaction may claim it again, as after a crash', async () => {
  assert.equal(await claim('T1'), true);
  assert.equal(await claim('T1'), true);
});

test('no other payment and no other merchant can claim a provider transaction', async () => {
  assert.equal(await claim('T2'), true);
  assert.equal(await claim('T2', { subjectId: stableUuid('another charge') }), false);
  assert.equal(await claim('T2', { merchantId: stableUuid('another merchant') }), false);
  assert.equal(await claim('T2'), true);
});

test('transactions are one set for each account that holds our money', async () => {
  assert.equal(await claim('T3'), true);
  const subjectId = stableUuid('another charge');
  assert.equal(await claim('T3', { railAccount: 'another rail', subjectId }), true);
  assert.equal(await claim('t3', { subjectId }), true, 'ids are taken as they are written');
});

test('of many concurrent claims of one provider transaction one succeeds', async () => {
  const claims = Array.from({ length: 20 }, (_, index) => claim('T4', { subjectId: stableUuid(`charge ${index}`) }));
  assert.equal((await Promise.all(claims)).filter(Boolean).length, 1);
});
