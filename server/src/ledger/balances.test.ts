import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AppError } from '../api/app-error.ts';
import { foldBalances, readBalances } from './balances.ts';
import { createLedgerWorld, type LedgerWorld } from './ledger-world.corpus.ts';
import { lockBalance } from './post.ts';
import type { Movement } from './posting.ts';
import { verifyLedger } from './verify.ts';

let world: LedgerWorld;

before(async () => {
  world = await createLedgerWorld();
});

after(() => world.close());

const currency = 'GMD';
const account = 'payable_available';

function credit(amountMinor: bigint): Movement {
  return { debit: 'float:rail', credit: account, amountMinor };
}

function spend(amountMinor: bigint): Movement {
  return { debit: account, credit: 'float:rail', amountMinor };
}

function fold(merchantId: string): Promise<bigint> {
  return world.db.withTransaction((tx) => lockBalance(tx, { merchantId, account, currency }));
}

test('a balance is the sum of its movements, before, between and after folding', async () => {
  const merchantId = await world.newMerchant();
  assert.equal(await world.balance(merchantId, account), 0n);
  await world.post(merchantId, credit(100n));
  await world.post(merchantId, credit(23n));
  assert.equal(await world.count('ledger_deltas', merchantId), 4);
  assert.equal(await world.balance(merchantId, account), 123n);
  assert.equal(await fold(merchantId), 123n);
  assert.equal(await world.count('ledger_deltas', merchantId), 2, 'the float keeps its own');
  assert.equal(await world.balance(merchantId, account), 123n);
  await world.post(merchantId, credit(7n));
  await world.post(merchantId, spend(30n));
  assert.equal(await world.balance(merchantId, account), 100n);
});

test('several balances are read in one snapshot, also of accounts without movements', async () => {
  const [merchantId, other] = [await world.newMerchant(), await world.newMerchant()];
  await world.post(merchantId, credit(100n));
  await fold(merchantId);
  await world.post(merchantId, credit(7n), { debit: 'float:rail', credit: 'sub:one', amountMinor: 5n });
  await world.post(other, { debit: 'float:rail', credit: 'sub:two', amountMinor: 9n });
  const accounts = [account, 'sub:one', 'sub:two'] as const;
  const balances = await readBalances(world.db, { merchantId, currency, accounts });
  assert.deepEqual(
    [...balances],
    [
      [account, 107n],
      ['sub:one', 5n],
      ['sub:two', 0n],
    ],
  );
  assert.equal((await readBalances(world.db, { merchantId, currency, accounts: [] })).size, 0);
});

test('a delta inserted before a fold and committed after it is not lost', async () => {
  const merchantId = await world.newMerchant();
  await world.post(merchantId, credit(100n));
  const inserted = Promise.withResolvers<void>();
  const mayCommit = Promise.withResolvers<void>();
  const late = world.db.withTransaction(async (tx) => {
    await world.postIn(tx, merchantId, [credit(50n)]);
    await tx.run({ name: 'test_now', text: 'SELECT 1', values: [] });
    inserted.resolve();
    await mayCommit.promise;
  });
  await inserted.promise;
  // Newer than the late one, and folded while that is still open: an "up to this id" would take both for done.
  await world.post(merchantId, credit(7n));
  assert.equal(await fold(merchantId), 107n);
  assert.equal(await world.balance(merchantId, account), 107n);
  mayCommit.resolve();
  await late;
  assert.equal(await world.balance(merchantId, account), 157n);
  assert.equal(await fold(merchantId), 157n);
});

test('a spend counts every committed credit, folded or not', async () => {
  const merchantId = await world.newMerchant();
  await world.post(merchantId, credit(60n));
  await fold(merchantId);
  await world.post(merchantId, credit(40n));
  await world.post(merchantId, spend(100n));
  assert.equal(await world.balance(merchantId, account), 0n);
});

test('concurrent credits, spends and folds lose, create and overspend nothing', async () => {
  const merchantId = await world.newMerchant();
  const [creditors, spenders, each] = [4, 3, 25];
  let spent = 0n;
  let working = creditors + spenders;
  const collect = async (): Promise<void> => {
    for (let round = 0; round < each; round += 1) await world.post(merchantId, credit(10n));
    working -= 1;
  };
  const pay = async (): Promise<void> => {
    for (let round = 0; round < each; round += 1) {
      try {
        await world.post(merchantId, spend(13n));
        spent += 13n;
      } catch (error) {
        assert.ok(error instanceof AppError && error.code === 'insufficient_balance', String(error));
      }
    }
    working -= 1;
  };
  const foldAndLook = async (): Promise<void> => {
    while (working > 0) {
      await fold(merchantId);
      assert.ok((await world.balance(merchantId, account)) >= 0n);
      const { finding } = await verifyLedger(world.db);
      assert.equal(finding, null, 'a look at one moment, in the middle of it');
    }
  };
  await Promise.all([
    ...Array.from({ length: creditors }, collect),
    ...Array.from({ length: spenders }, pay),
    foldAndLook(),
  ]);
  const collected = BigInt(creditors * each) * 10n;
  assert.equal(await world.balance(merchantId, account), collected - spent);
  assert.ok(spent > 0n);
});

test('the chore folds accounts with many deltas, and changes no balance', async () => {
  const [long, short] = [await world.newMerchant(), await world.newMerchant()];
  await world.db.withTransaction(async (tx) => {
    for (let index = 0; index < 201; index += 1) await world.postIn(tx, long, [credit(1n)]);
    for (let index = 0; index < 200; index += 1) await world.postIn(tx, short, [credit(1n)]);
  });
  assert.equal(await foldBalances(world.db), 2, 'the long merchant’s balance and float');
  assert.equal(await world.count('ledger_deltas', long), 0);
  assert.equal(await world.count('ledger_deltas', short), 400);
  for (const [merchantId, balance] of [
    [long, 201n],
    [short, 200n],
  ] as const) {
    assert.equal(await world.balance(merchantId, account), balance);
    assert.equal(await world.balance(merchantId, 'float:rail'), balance);
  }
  const { finding } = await verifyLedger(world.db);
  assert.equal(finding, null);
});
