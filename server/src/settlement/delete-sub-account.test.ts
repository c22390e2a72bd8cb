import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { listCases } from '../cases/list-cases.ts';
import { AppError } from '../api/app-error.ts';
import { applyResponse } from '../payments/apply-response.ts';
import type { Charge } from '../payments/charge.ts';
import { succeeded } from '../payments/payment-world.corpus.ts';
import { createChargeResolvers } from '../payments/resolve-case.ts';
import { createRefund } from '../refunds/create-refund.ts';
import {
  reversedPayout,
  createRefundWorld,
  paidBack,
  refused,
  splitWith,
  type RefundWorld,
} from '../refunds/refund-world.corpus.ts';
import { getSubAccount } from '../sub-accounts/manage-sub-accounts.ts';
import { createPayout } from './create-payout.ts';
import { deleteSubAccount } from './delete-sub-account.ts';

const minuteMs = 60_000;

let world: RefundWorld;

before(async () => {
  world = await createRefundWorld();
});
afterEach(() => world.verify());
after(() => world.close());

/** `deleted`, or the code and message of the refusal. */
async function tryToDelete(id: string, owner = world.merchant): Promise<string> {
  try {
    await world.db.withTransaction((tx) => deleteSubAccount(tx, world.context.clock, owner, id));
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

describe('the deletion of a sub-account', () => {
  test('without use succeeds, and the id then answers not_found', async () => {
    const id = await world.newSubAccount(20);
    assert.equal(await tryToDelete(id), 'deleted');
    await assert.rejects(getSubAccount(world.db, world.merchant.id, id), { code: 'not_found' });
    assert.match(await tryToDelete(id), /^not_found/);
  });

  test('of another merchant answers not_found', async () => {
    const id = await world.newSubAccount(20);
    assert.match(await tryToDelete(id, await world.newMerchant()), /^not_found/);
  });

  test('with a balance is refused until its payout is completed, and its history stays', async () => {
    const id = await world.newSubAccount(20);
    const charge = await payWith(id);
    assert.match(await tryToDelete(id), /^sub_account_in_use: The sub-account still has D20\.00\./);
    const payout = await payOut(id);
    assert.match(await tryToDelete(id), new RegExp(`^sub_account_in_use: A payout .* \\(${payout.id}\\)`));
    await world.work();
    assert.match(await tryToDelete(id), /^sub_account_in_use: A payout/, 'its outcome is not known');
    await world.report(payout, refused());
    assert.match(await tryToDelete(id), /^sub_account_in_use: The sub-account still has D20\.00/, 'it came back');
    const again = await payOut(id);
    await world.work();
    await world.report(again, paidBack(again));
    assert.equal(await tryToDelete(id), 'deleted');
    assert.ok((await world.movements(charge)).includes(`collected float:rail-aps → sub:${id} 2000`));
  });

  test('with a balance below 10 GMD is refused with the ways out, of which a refund is one', async () => {
    const id = await world.newSubAccount(4);
    const charge = await payWith(id);
    const waysOut =
      /has D4\.00, and a payout needs at least D10\.00\. Collect more .*, or refund .*; set its active to false/;
    assert.match(await tryToDelete(id), waysOut);
    const message = /D4\.00, and a payout needs at least D10\.00\. Wait for more payments .* set its active to false/;
    await assert.rejects(payOut(id), { code: 'balance_below_minimum', message });
    await world.refundReported(charge, paidBack);
    assert.equal(await tryToDelete(id), 'deleted');
  });

  test('with a balance below 10 GMD succeeds once more payments made a payout possible', async () => {
    const id = await world.newSubAccount(8);
    await payWith(id);
    assert.match(await tryToDelete(id), /has D8\.00, and a payout needs at least D10\.00/);
    await payWith(id);
    const payout = await payOut(id);
    await world.work();
    await world.report(payout, paidBack(payout));
    assert.equal(await tryToDelete(id), 'deleted');
  });

  test('with a pending balance is refused', async () => {
    const id = await world.newSubAccount(20);
    await world.post({ debit: 'float:rail-aps', credit: `sub:${id}:pending`, amountMinor: 1n });
    assert.match(await tryToDelete(id), /^sub_account_in_use: The sub-account still has D0\.01/);
  });

  test('is refused while a refund holds money of it', async () => {
    const id = await world.newSubAccount(20);
    const refund = await world.refundSent(await payWith(id));
    assert.match(await tryToDelete(id), new RegExp(`^sub_account_in_use: A refund .* \\(${refund.id}\\)`));
    await world.report(refund, paidBack(refund));
    assert.equal(await tryToDelete(id), 'deleted');
  });

  test('is refused while a group contains it', async () => {
    const { id: groupId, members } = await world.newGroup(10, 20);
    assert.match(await tryToDelete(members[0] ?? ''), new RegExp(`^sub_account_in_use: .*group Rent \\(${groupId}\\)`));
  });

  test('is refused while an open payment shares with it, until that ends or expires without review', async () => {
    const id = await world.newSubAccount(20);
    const { intent } = await world.create({ split: splitWith({ subAccountId: id }) });
    assert.match(await tryToDelete(id), new RegExp(`^sub_account_in_use: The open payment ${intent.id} `));
    await world.clock.advance(30 * minuteMs - 1);
    assert.match(await tryToDelete(id), /^sub_account_in_use/);
    await world.clock.advance(1);
    assert.equal(await tryToDelete(id), 'deleted', 'though no job has written the expiry down');
  });

  test('is refused while a payment of it is under review, however long', async () => {
    const id = await world.newSubAccount(20);
    const { charge } = await world.createSent({ split: splitWith({ subAccountId: id }) });
    await applyResponse(world.context, charge, succeeded(charge, { transactionId: 'M-1', amountMinor: 9_000n }));
    await world.clock.advance(60 * minuteMs);
    assert.match(await tryToDelete(id), /^sub_account_in_use: The open payment/);
  });
});

describe('a share of a deleted sub-account goes to suspense, with a case, when', () => {
  /** Carries out a confirmed resolution, as the part `cases` does. */
  async function resolve(charge: Charge, kind: string, resolution: string): Promise<void> {
    const cases = await listCases(world.db, null, 10_000, null);
    const found = cases.find((one) => one.subjectId === charge.id && one.kind === kind);
    const resolvers = createChargeResolvers(world.context);
    const resolver = resolvers.find((one) => one.kind === kind && one.resolution === resolution);
    assert.ok(found && resolver);
    const carryOut = await resolver.prepare(found, null);
    await world.db.withTransaction((tx) => carryOut(tx, { found } as never));
  }

  /**
   * Deletes the sub-account and runs `work`, which leaves its 20.00 in suspense, of `leftMinor` that were there before; then
   * gives them to the merchant.
   */
  async function leavesUnallocated(
    { charge, id, leftMinor = 0n }: { charge: Charge; id: string; leftMinor?: bigint },
    work: () => Promise<unknown>,
  ): Promise<void> {
    assert.equal(await tryToDelete(id), 'deleted');
    const before = (await world.balance('suspense')) - leftMinor;
    await work();
    assert.deepEqual(await world.balances(`sub:${id}`, `sub:${id}:pending`, 'suspense'), {
      [`sub:${id}`]: 0n,
      [`sub:${id}:pending`]: 0n,
      suspense: before + 2_000n,
    });
    const all = await listCases(world.db, null, 10_000, null);
    const about = all.filter((one) => one.subjectId === charge.id && one.kind === 'share_without_owner');
    assert.deepEqual(
      about.map(({ amountMinor, status }) => [amountMinor, status]),
      [[2_000n, 'open']],
    );
    const merchant = await world.balance('payable_available');
    await resolve(charge, 'share_without_owner', 'to_merchant');
    assert.equal(await world.balance('payable_available'), merchant + 2_000n);
  }

  test('two operators accept another amount that arrived after the payment expired', async () => {
    const id = await world.newSubAccount(20);
    const { charge } = await world.create({ network: 'aps', split: splitWith({ subAccountId: id }) });
    await world.clock.advance(31 * minuteMs);
    await applyResponse(world.context, charge, succeeded(charge, { transactionId: 'A-1', amountMinor: 12_000n }));
    await leavesUnallocated({ charge, id, leftMinor: 12_000n }, () => resolve(charge, 'amount_mismatch', 'accept'));
    assert.equal((await world.charge(charge)).status, 'completed');
  });

  test('a refund fails whose advance the sub-account has repaid', async () => {
    const id = await world.newSubAccount(20);
    const charge = await payWith(id);
    await world.completePayout(id, 2_000n);
    const refund = await world.refundSent(charge);
    await payWith(id);
    assert.deepEqual(await world.balances(`sub:${id}`, `sub_owed:${id}`), {
      [`sub:${id}`]: 0n,
      [`sub_owed:${id}`]: 0n,
    });
    await leavesUnallocated({ charge, id }, () => world.report(refund, refused()));
  });

  test('a network reverses a refund', async () => {
    const id = await world.newSubAccount(20);
    const charge = await payWith(id);
    const refund = await world.refundReported(charge, paidBack);
    await leavesUnallocated({ charge, id }, () => world.report(refund, reversedPayout(refund)));
  });

  test('a network reverses two refunds of one payment: each has its own case', async () => {
    const id = await world.newSubAccount(20);
    const charge = await payWith(id);
    const refunds = [
      await world.refundReported(charge, paidBack, 5_000n),
      await world.refundReported(charge, paidBack),
    ];
    assert.equal(await tryToDelete(id), 'deleted');
    const before = await world.balance('suspense');
    for (const refund of refunds) await world.report(refund, reversedPayout(refund));
    assert.deepEqual([await world.balance('suspense'), await world.balance(`sub:${id}`)], [before + 2_000n, 0n]);
    assert.deepEqual(await world.cases(charge), ['share_without_owner', 'share_without_owner']);
  });

  test('a late success arrives at a process whose clock is behind', async () => {
    const id = await world.newSubAccount(20);
    const { charge, intent } = await world.create({ network: 'aps', split: splitWith({ subAccountId: id }) });
    await world.clock.advance(intent.expiresAt.getTime() - world.clock.now().getTime());
    const behind = {
      now: () => new Date(intent.expiresAt.getTime() - 1),
      sleep: () => assert.fail('a success waits for nothing'),
    };
    await leavesUnallocated({ charge, id }, () =>
      applyResponse({ ...world.context, clock: behind }, charge, succeeded(charge)),
    );
  });
});

describe('a deletion concurrent with', () => {
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

  test('a refund of its share waits until the refund is committed', async () => {
    const id = await world.newSubAccount(20);
    const { transactionReference: reference } = await payWith(id);
    const lockNow = () => world.asOwner('SELECT id FROM sub_accounts WHERE id = $1 FOR UPDATE NOWAIT', [id]);
    await world.db.withTransaction(async (tx) => {
      await createRefund(tx, world.context, world.merchant, { reference, amountMinor: null });
      await assert.rejects(lockNow(), { code: '55P03' });
    });
    assert.match(await tryToDelete(id), /^sub_account_in_use: A refund/);
    await world.work();
  });

  test('a success of its payment never credits a deleted sub-account', async () => {
    const seen = new Set<string>();
    for (let round = 0; round < rounds; round += 1) {
      const id = await world.newSubAccount(20);
      const { charge } = await world.create({ network: 'aps', split: splitWith({ subAccountId: id }) });
      // In every other round the time of the payment is up, so that its success comes late.
      if (round % 2 === 0) await world.clock.advance(31 * minuteMs);
      const [, outcome] = await Promise.all([
        applyResponse(world.context, charge, succeeded(charge, { transactionId: `L-${round}` })),
        tryToDelete(id),
      ]);
      seen.add(outcome.split(':')[0] ?? '');
      assert.equal(await world.balance(`sub:${id}`), outcome === 'deleted' ? 0n : 2_000n, outcome);
    }
    assert.ok(seen.has('sub_account_in_use'));
  });
});
