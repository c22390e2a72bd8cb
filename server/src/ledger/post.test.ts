import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { notingStatements } from '../../../test/harness/noted-statements.ts';
import { AppError } from '../api/app-error.ts';
import { PublicError } from '../kit/public-error.ts';
import { AssertionFailure } from '../kit/assert.ts';
import { sqlState } from '../kit/db-errors.ts';
import type { Account } from './accounts.ts';
import { createLedgerWorld, type LedgerWorld } from './ledger-world.corpus.ts';
import { lockBalance, lockBalances } from './post.ts';
import type { Movement } from './posting.ts';
import { verifyLedger } from './verify.ts';

let world: LedgerWorld;

before(async () => {
  world = await createLedgerWorld();
});

after(() => world.close());

const currency = 'GMD';

function isInsufficient(error: unknown): boolean {
  return error instanceof AppError && error.code === 'insufficient_balance' && error.statusCode === 400;
}

/** Runs `body` while another transaction holds the account's lock; fails when it has to wait for it. */
async function whileLocked(
  merchantId: string,
  account: Account,
  body: () => Promise<void>,
  { db } = world,
): Promise<void> {
  const locked = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  const holder = db.withTransaction(async (tx) => {
    await lockBalance(tx, { merchantId, account, currency });
    locked.resolve();
    await mayEnd.promise;
  });
  await locked.promise;
  try {
    await body();
  } finally {
    mayEnd.resolve();
    await holder;
  }
}

test('a posting debits and credits the same amount', async () => {
  const merchantId = await world.newMerchant();
  await world.post(
    merchantId,
    { debit: 'float:rail', credit: 'fees', amountMinor: 200n },
    { debit: 'float:rail', credit: 'sub:abc', amountMinor: 2_000n },
    { debit: 'float:rail', credit: 'payable_available', amountMinor: 7_800n },
  );
  assert.equal(await world.balance(merchantId, 'float:rail'), 10_000n);
  assert.equal(await world.balance(merchantId, 'fees'), 200n);
  assert.equal(await world.balance(merchantId, 'sub:abc'), 2_000n);
  assert.equal(await world.balance(merchantId, 'payable_available'), 7_800n);
  assert.equal(await world.count('ledger_movements', merchantId), 3);
});

test('movements of zero are left out, and a posting of zero writes nothing', async () => {
  const merchantId = await world.newMerchant();
  await world.post(
    merchantId,
    { debit: 'float:rail', credit: 'fees', amountMinor: 0n },
    { debit: 'float:rail', credit: 'payable_available', amountMinor: 1n },
  );
  assert.equal(await world.count('ledger_movements', merchantId), 1);
  await world.post(merchantId, { debit: 'float:rail', credit: 'fees', amountMinor: 0n });
  assert.equal(await world.count('ledger_movements', merchantId), 1);
});

const mistakes: [string, Movement[]][] = [
  ['a negative amount', [{ debit: 'float:rail', credit: 'fees', amountMinor: -1n }]],
  ['one account on both sides', [{ debit: 'float:rail', credit: 'float:rail', amountMinor: 1n }]],
  [
    'more movements than any flow has',
    Array.from({ length: 151 }, (_, index) => ({ debit: 'float:rail', credit: `sub:${index}`, amountMinor: 1n })),
  ],
];
for (const [name, movements] of mistakes) {
  test(`an invalid posting fails an assertion and writes nothing: ${name}`, async () => {
    const merchantId = await world.newMerchant();
    await assert.rejects(world.post(merchantId, ...movements), AssertionFailure);
    assert.equal(await world.count('ledger_movements', merchantId), 0);
    assert.equal(await world.count('ledger_deltas', merchantId), 0);
  });
}

test('a refused posting rolls its transaction back', async () => {
  const merchantId = await world.newMerchant();
  const both = world.db.withTransaction(async (tx) => {
    await world.postIn(tx, merchantId, [{ debit: 'float:rail', credit: 'payable_available', amountMinor: 100n }]);
    await world.postIn(tx, merchantId, [{ debit: 'payable_available', credit: 'held', amountMinor: 101n }]);
  });
  await assert.rejects(both, isInsufficient);
  assert.equal(await world.count('ledger_movements', merchantId), 0);
  assert.equal(await world.balance(merchantId, 'payable_available'), 0n);
});

test('credits and debits of one posting on one account are netted', async () => {
  const merchantId = await world.newMerchant();
  await world.post(
    merchantId,
    { debit: 'float:rail', credit: 'payable_available', amountMinor: 100n },
    { debit: 'payable_available', credit: 'fees', amountMinor: 100n },
  );
  assert.equal(await world.balance(merchantId, 'payable_available'), 0n);
  assert.equal(await world.balance(merchantId, 'fees'), 100n);
});

test('balances are separate for each merchant and currency', async () => {
  const [one, other] = [await world.newMerchant(), await world.newMerchant()];
  await world.post(one, { debit: 'float:rail', credit: 'payable_available', amountMinor: 100n });
  await assert.rejects(
    world.post(other, { debit: 'payable_available', credit: 'float:rail', amountMinor: 1n }),
    isInsufficient,
  );
});

test('collecting never waits for the lock of a balance', async () => {
  const merchantId = await world.newMerchant();
  await world.post(merchantId, { debit: 'float:rail', credit: 'payable_available', amountMinor: 1n });
  const accounts: Account[] = ['fees', 'float:rail', 'payable_available'];
  const collect = (): Promise<void> =>
    world.post(
      merchantId,
      { debit: 'float:rail', credit: 'fees', amountMinor: 2n },
      { debit: 'float:rail', credit: 'payable_available', amountMinor: 98n },
    );
  for (const account of accounts) await whileLocked(merchantId, account, collect);
  assert.equal(await world.balance(merchantId, 'payable_available'), 1n + 3n * 98n);
});

test('of concurrent spends of one balance, as many succeed as it covers', async () => {
  const merchantId = await world.newMerchant();
  await world.post(merchantId, { debit: 'float:rail', credit: 'payable_available', amountMinor: 1_000n });
  const spends = Array.from({ length: 30 }, () =>
    world.post(merchantId, { debit: 'payable_available', credit: 'float:rail', amountMinor: 73n }),
  );
  const outcomes = await Promise.allSettled(spends);
  const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
  assert.equal(outcomes.length - refusals.length, 13, 'floor(1000 / 73)');
  assert.ok(refusals.every(isInsufficient), String(refusals.find((refusal) => !isInsufficient(refusal))));
  assert.equal(await world.balance(merchantId, 'payable_available'), 1_000n - 13n * 73n);
});

test('concurrent spends of several accounts, in any order, do not deadlock', async () => {
  const merchantId = await world.newMerchant();
  const accounts: Account[] = ['fees', 'payable_available', 'sub:abc', 'suspense'];
  const fill = accounts.map((credit) => ({ debit: 'float:rail', credit, amountMinor: 100n }) as const);
  await world.post(merchantId, ...fill);
  let runs = 0;
  const spend = (order: readonly Account[]): Promise<void> =>
    world.db.withTransaction(async (tx) => {
      runs += 1;
      const movements = order.map((debit) => ({ debit, credit: 'float:rail', amountMinor: 1n }) as const);
      await world.postIn(tx, merchantId, movements);
    });
  const orders = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? accounts : accounts.toReversed()));
  await Promise.all(orders.map(spend));
  assert.equal(runs, orders.length, 'nobody was sent back by a deadlock');
  for (const account of accounts) assert.equal(await world.balance(merchantId, account), 60n);
});

test('a transaction reads a balance once, counts what it books itself, and never spends it twice', async () => {
  const merchantId = await world.newMerchant();
  await world.post(merchantId, { debit: 'float:rail', credit: 'payable_available', amountMinor: 100n });
  const names: string[] = [];
  const locks = () => names.filter((name) => name === 'ledger_accounts_lock').length;
  await world.db.withTransaction(async (tx) => {
    const noted = notingStatements(tx, names);
    const spend = (amountMinor: bigint) =>
      world.postIn(noted, merchantId, [{ debit: 'payable_available', credit: 'fees', amountMinor }]);
    await spend(30n);
    const first = locks();
    await spend(30n);
    await assert.rejects(spend(41n), isInsufficient);
    assert.equal(locks(), first, 'the balance is known');
    await world.postIn(noted, merchantId, [{ debit: 'float:rail', credit: 'payable_available', amountMinor: 50n }]);
    await spend(90n);
    await assert.rejects(spend(1n), isInsufficient);
  });
  assert.equal(await world.balance(merchantId, 'payable_available'), 0n);
  assert.equal(await world.balance(merchantId, 'fees'), 150n);
});

test('postings that a transaction books at once never spend together more than there is', async () => {
  const merchantId = await world.newMerchant();
  await world.post(merchantId, { debit: 'float:rail', credit: 'payable_available', amountMinor: 100n });
  const outcomes = await world.db.withTransaction((tx) =>
    Promise.allSettled(
      [40n, 40n, 40n, 20n].map((amountMinor) =>
        world.postIn(tx, merchantId, [{ debit: 'payable_available', credit: 'fees', amountMinor }]),
      ),
    ),
  );
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
  );
  assert.equal(await world.balance(merchantId, 'payable_available'), 0n);
});

test('locking a balance folds and returns it', async () => {
  const merchantId = await world.newMerchant();
  await world.post(merchantId, { debit: 'float:rail', credit: 'payable_available', amountMinor: 70n });
  await world.post(merchantId, { debit: 'float:rail', credit: 'fees', amountMinor: 30n });
  const at = { merchantId, currency };
  const balances = await world.db.withTransaction((tx) => lockBalances(tx, at, ['payable_available', 'fees', 'held']));
  assert.deepEqual(Object.fromEntries(balances), { fees: 30n, held: 0n, payable_available: 70n });
});

test('a balance stays locked until the transaction ends, and a long wait for it is refused', async () => {
  const hasty = await createLedgerWorld({ isPatient: false });
  const merchantId = await hasty.newMerchant();
  await hasty.post(merchantId, { debit: 'float:rail', credit: 'payable_available', amountMinor: 70n });
  const spend = () =>
    assert.rejects(
      hasty.post(merchantId, { debit: 'payable_available', credit: 'held', amountMinor: 1n }),
      (error) => error instanceof PublicError && error.code === 'unavailable',
    );
  await whileLocked(merchantId, 'payable_available', spend, hasty);
  assert.equal(await hasty.balance(merchantId, 'payable_available'), 70n);
  await hasty.close();
});

test('the serving role can insert and read movements, not change or delete them', async () => {
  const merchantId = await world.newMerchant();
  await world.post(merchantId, { debit: 'float:rail', credit: 'payable_available', amountMinor: 70n });
  const attempts = {
    update: 'UPDATE ledger_movements SET amount = amount + 1',
    delete: 'DELETE FROM ledger_movements',
    truncate: 'TRUNCATE ledger_movements',
    drop: 'DROP TABLE ledger_movements',
    alter: 'ALTER TABLE ledger_movements DROP CONSTRAINT ledger_movements_amount_check',
    disguise: `INSERT INTO ledger_movements SELECT * FROM ledger_movements
               ON CONFLICT (merchant_id, id) DO UPDATE SET amount = 1`,
  };
  for (const [name, text] of Object.entries(attempts)) {
    await assert.rejects(
      world.db.run({ name: `test_${name}`, text, values: [] }),
      (error: Error) => sqlState(error.cause) === '42501',
      name,
    );
  }
  const { finding } = await verifyLedger(world.db);
  assert.equal(finding, null);
});
