import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { AppError } from '../kit/app-error.ts';
import { applyAnswer } from '../payments/apply-answer.ts';
import { succeeded } from '../payments/payment-world.corpus.ts';
import { createRefundWorld, paidBack, refused, splitWith } from '../refunds/refund-world.corpus.ts';
import type { RefundWorld } from '../refunds/refund-world.corpus.ts';
import { getSubAccount } from '../sub-accounts/find-sub-account.ts';
import { createPayout } from './create-payout.ts';
import { deleteSubAccount } from './delete-sub-account.ts';

const minuteMs = 60_000;

let world: RefundWorld;

before(async () => {
  world = await createRefundWorld();
});
afterEach(() => world.verify());
after(() => world.close());

/** `deleted`, or the code of the refusal and what it names. */
async function tryToDelete(id: string, owner = world.merchant): Promise<string> {
  try {
    await world.db.withTransaction((tx) => deleteSubAccount(tx, world.context, owner, id));
    return 'deleted';
  } catch (error) {
    assert.ok(error instanceof AppError, String(error));
    return `${error.code}: ${error.message}`;
  }
}

const payWith = (subAccountId: string) => {
  const { collect } = world;
  return collect({ split: splitWith({ subAccountId }) });
};
const payOut = (subAccountId: string) =>
  world.db.withTransaction((tx) =>
    createPayout(tx, world.context, world.merchant, { subAccountId, amountMinor: null }),
  );

describe('a sub-account', () => {
  test('that nothing uses is deleted, and then is not there any more', async () => {
    const id = await world.newSubAccount(20);
    assert.equal(await tryToDelete(id), 'deleted');
    await assert.rejects(getSubAccount(world.db, world.merchant.id, id), { code: 'not_found' });
    assert.match(await tryToDelete(id), /^not_found/);
  });

  test('of another merchant is not there', async () => {
    const id = await world.newSubAccount(20);
    assert.match(await tryToDelete(id, await world.newMerchant()), /^not_found/);
  });

  test('stays while it has money, settled or not; once it is paid out it goes, and its history stays', async () => {
    const id = await world.newSubAccount(20);
    const charge = await payWith(id);
    assert.match(await tryToDelete(id), /^sub_account_in_use: The sub-account still has D20\.00\./);
    const payout = await payOut(id);
    assert.match(await tryToDelete(id), new RegExp(`^sub_account_in_use: A payout .* \\(${payout.id}\\)`));
    await world.work();
    assert.match(await tryToDelete(id), /^sub_account_in_use: A payout/, 'its outcome is not known');
    await world.tell(payout, refused());
    assert.match(await tryToDelete(id), /^sub_account_in_use: The sub-account still has D20\.00/, 'it came back');
    const again = await payOut(id);
    await world.work();
    await world.tell(again, paidBack(again));
    assert.equal(await tryToDelete(id), 'deleted');
    assert.ok((await world.movements(charge)).includes(`collected float:rail-aps → sub:${id} 2000`));
  });

  test('stays while what it has waits for its settlement', async () => {
    const id = await world.newSubAccount(20);
    await world.post({ debit: 'float:rail-aps', credit: `sub:${id}:pending`, amountMinor: 1n });
    assert.match(await tryToDelete(id), /^sub_account_in_use: The sub-account still has D0\.01/);
  });

  test('stays while a refund holds money of it', async () => {
    const id = await world.newSubAccount(20);
    const refund = await world.refundSent(await payWith(id));
    assert.match(await tryToDelete(id), new RegExp(`^sub_account_in_use: A refund .* \\(${refund.id}\\)`));
    await world.tell(refund, paidBack(refund));
    assert.equal(await tryToDelete(id), 'deleted');
  });

  test('stays while a group contains it', async () => {
    const { id: groupId, members } = await world.newGroup(10, 20);
    assert.match(await tryToDelete(members[0] ?? ''), new RegExp(`^sub_account_in_use: .*group Rent \\(${groupId}\\)`));
  });

  test('stays while an open payment shares with it: until it ends, or its time is up and no person is to look', async () => {
    const id = await world.newSubAccount(20);
    const { intent } = await world.create({ split: splitWith({ subAccountId: id }) });
    assert.match(await tryToDelete(id), new RegExp(`^sub_account_in_use: The open payment ${intent.id} `));
    await world.clock.advance(30 * minuteMs - 1);
    assert.match(await tryToDelete(id), /^sub_account_in_use/);
    await world.clock.advance(1);
    assert.equal(await tryToDelete(id), 'deleted', 'though no job has written the expiry down');
  });

  test('stays while a payment of it waits for a person, however long', async () => {
    const id = await world.newSubAccount(20);
    const { charge } = await world.createSent({ split: splitWith({ subAccountId: id }) });
    await applyAnswer(world.context, charge, succeeded(charge, { transactionId: 'M-1', amountMinor: 9_000n }));
    await world.clock.advance(60 * minuteMs);
    assert.match(await tryToDelete(id), /^sub_account_in_use: The open payment/);
  });
});

describe('a deletion at the same moment as', () => {
  const rounds = 25;

  test('a payment that names the sub-account: one of the two is refused', async () => {
    const seen = new Set<string>();
    for (let round = 0; round < rounds; round += 1) {
      const id = await world.newSubAccount(20);
      const payment = world.create({ split: splitWith({ subAccountId: id }) }).then(
        () => 'created',
        (error: AppError) => error.code,
      );
      const outcomes = await Promise.all([payment, tryToDelete(id).then((text) => text.split(':')[0])]);
      seen.add(outcomes.join(' '));
    }
    for (const outcome of seen) assert.match(outcome, /^(created sub_account_in_use|invalid_request deleted)$/);
  });

  test('a payout of it: one of the two is refused', async () => {
    for (let round = 0; round < rounds; round += 1) {
      const id = await world.newSubAccount(20);
      await payWith(id);
      const paidOut = payOut(id).then(
        () => 'created',
        (error: AppError) => error.code,
      );
      assert.deepEqual(await Promise.all([paidOut, tryToDelete(id).then((text) => text.split(':')[0])]), [
        'created',
        'sub_account_in_use',
      ]);
    }
  });

  test('the success of its payment never leaves money with somebody who is gone', async () => {
    const seen = new Set<string>();
    for (let round = 0; round < rounds; round += 1) {
      const id = await world.newSubAccount(20);
      const { charge } = await world.create({ network: 'aps', split: splitWith({ subAccountId: id }) });
      // In every other round the time of the payment is up, so that its success comes late.
      if (round % 2 === 0) await world.clock.advance(31 * minuteMs);
      const [, outcome] = await Promise.all([
        applyAnswer(world.context, charge, succeeded(charge, { transactionId: `L-${round}` })),
        tryToDelete(id),
      ]);
      seen.add(outcome.split(':')[0] ?? '');
      assert.equal(await world.balance(`sub:${id}`), outcome === 'deleted' ? 0n : 2_000n, outcome);
    }
    assert.ok(seen.has('sub_account_in_use'));
  });
});
