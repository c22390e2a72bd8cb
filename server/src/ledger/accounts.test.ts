import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AppError } from '../api/app-error.ts';
import { accountKind, accountKinds, debitSign, isGuarded, type Account, type AccountKind } from './accounts.ts';
import { createLedgerWorld, type LedgerWorld } from './ledger-world.corpus.ts';

let world: LedgerWorld;

before(async () => {
  world = await createLedgerWorld();
});

after(() => world.close());

/** What docs/ledger.md, "Accounts", says of each kind, written down a second time on purpose. */
const expected: Record<AccountKind, { grows: 'debit' | 'credit'; mayFallBelowZero: boolean }> = {
  float: { grows: 'debit', mayFallBelowZero: true },
  payable_pending: { grows: 'credit', mayFallBelowZero: false },
  payable_available: { grows: 'credit', mayFallBelowZero: false },
  sub: { grows: 'credit', mayFallBelowZero: false },
  held: { grows: 'credit', mayFallBelowZero: false },
  fees: { grows: 'credit', mayFallBelowZero: false },
  network_costs: { grows: 'debit', mayFallBelowZero: true },
  suspense: { grows: 'credit', mayFallBelowZero: false },
  receivable_merchant: { grows: 'debit', mayFallBelowZero: false },
  sub_owed: { grows: 'debit', mayFallBelowZero: false },
  due_from_subs: { grows: 'credit', mayFallBelowZero: false },
  test_funding: { grows: 'debit', mayFallBelowZero: true },
  bank: { grows: 'debit', mayFallBelowZero: true },
  capital: { grows: 'credit', mayFallBelowZero: true },
  unmatched: { grows: 'credit', mayFallBelowZero: false },
  till: { grows: 'debit', mayFallBelowZero: false },
  received_directly: { grows: 'credit', mayFallBelowZero: false },
};
const kinds = Object.keys(expected) as AccountKind[];

test('the account kinds are exactly the documented ones', () => {
  assert.deepEqual(Object.keys(accountKinds).toSorted(), kinds.toSorted());
});

test('an account belongs to the kind before its colon, with its side and its guard', () => {
  for (const kind of kinds) {
    const account: Account = `${kind}:0190-some:thing`;
    assert.equal(accountKind(account), kind);
    assert.equal(debitSign(account), expected[kind].grows === 'debit' ? 1n : -1n, kind);
    assert.equal(isGuarded(account), !expected[kind].mayFallBelowZero, kind);
  }
});

for (const kind of kinds) {
  const { grows, mayFallBelowZero } = expected[kind];
  test(`${kind} grows by a ${grows} and ${mayFallBelowZero ? 'may fall' : 'never falls'} below zero`, async () => {
    const merchantId = await world.newMerchant();
    // The other side may have any balance, so that only the account under test can refuse.
    const other: Account = kind === 'bank' ? 'float:other' : 'bank:other';
    const grow = (amountMinor: bigint) =>
      grows === 'debit' ? { debit: kind, credit: other, amountMinor } : { debit: other, credit: kind, amountMinor };
    const shrink = (amountMinor: bigint) =>
      grows === 'debit' ? { debit: other, credit: kind, amountMinor } : { debit: kind, credit: other, amountMinor };

    await world.post(merchantId, grow(500n));
    assert.equal(await world.balance(merchantId, kind), 500n);
    await world.post(merchantId, shrink(200n));
    assert.equal(await world.balance(merchantId, kind), 300n);

    const tooMuch = world.post(merchantId, shrink(301n));
    if (mayFallBelowZero) {
      await tooMuch;
      assert.equal(await world.balance(merchantId, kind), -1n);
    } else {
      await assert.rejects(tooMuch, (error) => error instanceof AppError && error.code === 'insufficient_balance');
      assert.equal(await world.balance(merchantId, kind), 300n);
      await world.post(merchantId, shrink(300n));
      assert.equal(await world.balance(merchantId, kind), 0n, 'all of it may go');
    }
  });
}

test('the table’s constraints allow the same kinds and guard the same ones as the code', async () => {
  const merchantId = await world.newMerchant();
  const insert = (account: string, kind: string, balance: bigint): Promise<unknown> =>
    world.asOwner(
      `INSERT INTO ledger_accounts (merchant_id, account, currency, kind, balance) VALUES ($1, $2, 'GMD', $3, $4)`,
      [merchantId, account, kind, balance],
    );
  for (const kind of kinds) {
    const below = insert(`${kind}:below`, kind, -1n);
    if (expected[kind].mayFallBelowZero) await below;
    else await assert.rejects(below, /ledger_accounts_not_negative_check/, kind);
    await insert(kind, kind, 0n);
  }
  await assert.rejects(insert('pocket', 'pocket', 0n), /ledger_accounts_kind_check/);
  await assert.rejects(insert('float:a', 'fees', 0n), /ledger_accounts_kind_check/);
});
