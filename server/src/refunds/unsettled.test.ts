import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Charge } from '../payments/charge.ts';
import { lockPayment } from '../payments/change-payment.ts';
import { settleCharge } from '../settlement/settle-charge.ts';
import { createRefundWorld, paidBack, refused, splitWith, type RefundWorld } from './refund-world.corpus.ts';

// Refunds of unsettled payments; server/src/settlement tests how the rest is settled.

const dayMs = 24 * 60 * 60 * 1_000;

let world: RefundWorld;

before(async () => {
  world = await createRefundWorld({ settlementDelayMs: dayMs });
});

after(async () => {
  await world.verify();
  await world.close();
});

const settle = (charge: Charge) =>
  world.db.withTransaction(async (tx) =>
    settleCharge(tx, world.context, await lockPayment(tx, world.merchant, charge)),
  );

test('unsettled shares that offset rounding leave the merchant’s bututs unsettled too', async () => {
  const { id, members } = await world.newGroup(50, 50);
  const charge = await world.collect({ amountMinor: 200n, split: splitWith({ groupId: id }) });
  const [one = '', two = ''] = members;
  await world.spendAllBut(1n);
  const before = await world.balances('payable_pending', 'payable_available', 'receivable_merchant');
  await world.refundReported(charge, paidBack, 1n);
  const second = await world.refundSent(charge, 1n);
  const after = await world.balances('payable_pending', `sub:${one}:pending`, `sub:${two}:pending`);
  assert.deepEqual(after, { payable_pending: 1n, [`sub:${one}:pending`]: 99n, [`sub:${two}:pending`]: 99n });
  assert.equal(before.payable_pending, 0n);
  await world.report(second, refused());
  await world.refundReported(charge, paidBack);
  await settle(charge);
  for (const member of members) {
    const left = await world.balances(`sub:${member}:pending`, `sub:${member}`);
    assert.deepEqual(Object.values(left), [0n, 0n]);
  }
  assert.deepEqual(await world.balances('payable_pending', 'payable_available', 'receivable_merchant'), before);
});

// The world fails a transaction that locks accounts in another order than docs/adr/0013 gives.

test('a refund of an unsettled payment reopens the debt that it repaid', async () => {
  await world.post({ debit: 'receivable_merchant', credit: 'bank', amountMinor: 10_000n });
  const shop = await world.newSubAccount(20);
  const charge = await world.collect({ amountMinor: 10_000n, split: splitWith({ subAccountId: shop }) });
  const { payable_pending: waiting, receivable_merchant: owed } = await world.balances(
    'payable_pending',
    'receivable_merchant',
  );
  assert.deepEqual([waiting, owed], [0n, 2_000n]);
  await world.collect({ amountMinor: 2_000n });
  await world.spendAllBut(0n);
  const refund = await world.refundSent(charge);
  assert.equal(await world.balance('receivable_merchant'), 8_000n);
  await world.report(refund, refused());
  assert.equal(await world.balance(`sub:${shop}:pending`), 2_000n);
});
