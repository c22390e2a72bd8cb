import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { paidBack, refused } from '../refunds/refund-world.corpus.ts';
import { settleCharge } from '../settlement/settle-charge.ts';
import { lockPayment } from '../payments/change-payment.ts';
import { createDebtWorld, type DebtWorld } from './debt-world.corpus.ts';

const dayMs = 24 * 60 * 60 * 1_000;

let world: DebtWorld;

before(async () => {
  world = await createDebtWorld({ settlementDelayMs: dayMs });
  await world.post({ debit: 'float:rail-aps', credit: 'payable_available', amountMinor: 1n });
  await world.spendAllBut(0n);
});

after(() => world.close());

test('unsettled money repays a debt, is returned by a refund, and settles like any other', async () => {
  const lost = await world.collect({ amountMinor: 10_000n });
  await world.post({ debit: 'payable_pending', credit: 'test_funding', amountMinor: 10_000n });
  await world.reverse(lost);
  assert.equal((await world.own()).receivable_merchant, 10_000n);

  const charge = await world.collect({ amountMinor: 16_000n });
  const repaid = { payable_available: 0n, payable_pending: 6_000n, receivable_merchant: 0n };
  assert.deepEqual(await world.own(), repaid);

  const refund = await world.refund(charge, 12_000n);
  assert.deepEqual(await world.own(), { payable_available: 0n, payable_pending: 0n, receivable_merchant: 6_000n });
  await world.work();
  await world.report(refund, refused());
  await world.syncDebts();
  assert.deepEqual(await world.own(), repaid);

  await world.clock.advance(dayMs);
  await world.db.withTransaction(async (tx) =>
    settleCharge(tx, world.context, await lockPayment(tx, world.merchant, charge)),
  );
  assert.deepEqual(await world.own(), { payable_available: 6_000n, payable_pending: 0n, receivable_merchant: 0n });
  await world.verify();
});

test('what a refund of an unsettled payment did not pay ends its part of the debt on the settled balance', async () => {
  await world.clear();
  const lost = await world.collect({ amountMinor: 10_000n });
  await world.post({ debit: 'payable_pending', credit: 'test_funding', amountMinor: 10_000n });
  await world.reverse(lost);
  const refund = await world.refundSent(await world.collect({ amountMinor: 12_000n }));
  assert.deepEqual(await world.own(), { payable_available: 0n, payable_pending: 0n, receivable_merchant: 10_000n });
  await world.report(refund, paidBack(refund, { amountMinor: 6_000n }));
  await world.resolveCase(refund, { kind: 'amount_mismatch', resolution: 'accept' });
  assert.deepEqual(await world.own(), { payable_available: 1_000n, payable_pending: 0n, receivable_merchant: 5_000n });
  await world.verify();
});
