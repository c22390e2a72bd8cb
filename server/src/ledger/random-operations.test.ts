import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../api/app-error.ts';
import { accountKinds, debitSign, isGuarded, type Account, type AccountKind } from './accounts.ts';
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

// Without `held`, whose balance must have its holds beside it.
const kinds = Object.keys(accountKinds).filter((kind): kind is AccountKind => kind !== 'held');
const accounts: Account[] = [...kinds, 'float:other', 'sub:one', 'sub:two'];

const anyAccount = fc.constantFrom(...accounts);
const anyMovement = fc
  .record({ debit: anyAccount, credit: anyAccount, amountMinor: fc.bigInt({ min: 0n, max: 10_000n }) })
  .filter(({ debit, credit }) => debit !== credit);
const anyOperation = fc.oneof(
  { weight: 6, arbitrary: fc.array(anyMovement, { minLength: 1, maxLength: 6 }) },
  { weight: 1, arbitrary: anyAccount },
);

/** The whole ledger in a few lines: what each account must hold. */
class Model {
  balances = new Map<Account, bigint>();

  /** False, and nothing changed, when a guarded account would fall below zero. */
  post(movements: readonly Movement[]): boolean {
    const next = new Map(this.balances);
    const add = (account: Account, change: bigint) => next.set(account, (next.get(account) ?? 0n) + change);
    for (const { debit, credit, amountMinor } of movements) {
      add(debit, debitSign(debit) * amountMinor);
      add(credit, -debitSign(credit) * amountMinor);
    }
    for (const [account, balance] of next) {
      const falls = balance < (this.balances.get(account) ?? 0n);
      if (falls && balance < 0n && isGuarded(account)) return false;
    }
    this.balances = next;
    return true;
  }

  /** Debits less credits: zero by what a ledger is. */
  difference(): bigint {
    return [...this.balances].reduce((sum, [account, balance]) => sum + debitSign(account) * balance, 0n);
  }
}

async function posted(merchantId: string, movements: readonly Movement[]): Promise<boolean> {
  try {
    await world.post(merchantId, ...movements);
    return true;
  } catch (error) {
    assert.ok(error instanceof AppError && error.code === 'insufficient_balance', String(error));
    return false;
  }
}

test('after random operations debits equal credits, guarded balances stay above zero, and match a model', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyOperation, { minLength: 10, maxLength: 25 }), async (operations) => {
      const merchantId = await world.newMerchant();
      const model = new Model();
      for (const operation of operations) {
        if (typeof operation === 'string') {
          const account = operation;
          await world.db.withTransaction((tx) => lockBalance(tx, { merchantId, account, currency }));
        } else assert.equal(await posted(merchantId, operation), model.post(operation));
      }
      assert.equal(model.difference(), 0n);
      for (const account of accounts) {
        assert.equal(await world.balance(merchantId, account), model.balances.get(account) ?? 0n, account);
      }
      const { finding } = await verifyLedger(world.db);
      assert.equal(finding, null);
    }),
    { numRuns: 25 },
  );
});

test('concurrent random operations keep the same invariants', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyOperation, { minLength: 20, maxLength: 30 }), async (operations) => {
      const merchantId = await world.newMerchant();
      const model = new Model();
      const outcomes = await Promise.all(
        operations.map(async (operation) => {
          if (typeof operation !== 'string') return (await posted(merchantId, operation)) ? operation : [];
          const at = { merchantId, account: operation, currency };
          await world.db.withTransaction((tx) => lockBalance(tx, at));
          return [];
        }),
      );
      // What went through does so in some order; together it must add up and stay at or above zero.
      model.post(outcomes.flat());
      for (const account of accounts) {
        const balance = await world.balance(merchantId, account);
        assert.equal(balance, model.balances.get(account) ?? 0n, account);
        assert.ok(balance >= 0n || !isGuarded(account), account);
      }
      const { finding } = await verifyLedger(world.db);
      assert.equal(finding, null);
    }),
    { numRuns: 12 },
  );
});
