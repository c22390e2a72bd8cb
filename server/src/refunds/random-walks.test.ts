import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { effort } from '../../../test/harness/effort.ts';
import { AppError } from '../api/app-error.ts';
import type { Account } from '../ledger/accounts.ts';
import type { Charge } from '../payments/charge.ts';
import { applyResponse } from '../payments/apply-response.ts';
import { succeeded } from '../payments/payment-world.corpus.ts';
import { updateSubAccount } from '../sub-accounts/manage-sub-accounts.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { RefundModel, type ModelCharge, type ModelRefund } from './refund-model.corpus.ts';
import type { Refund } from './refund.ts';
import {
  reversedPayout,
  createRefundWorld,
  paidBack,
  refused,
  splitWith,
  type RefundWorld,
} from './refund-world.corpus.ts';

const walks = effort({ usual: 12, long: 1_000 });
const commandsPerWalk = effort({ usual: 25, long: 50 });
// So little that advances are refused now and then.
const startMinor = 3_000n;

let world: RefundWorld;

before(async () => {
  world = await createRefundWorld();
});

after(() => world.close());

type Command =
  | { do: 'pay'; amountMinor: bigint; split: number; feeMinor: bigint; byCustomer: boolean }
  | { do: 'refund'; charge: number; perMille: bigint }
  | { do: 'end_refund'; refund: number; how: 'paid' | 'refused' | 'reversed' }
  | { do: 'pay_out'; sub: number; perMille: bigint }
  | { do: 'end_payout'; payout: number; isPaid: boolean }
  | { do: 'change'; sub: number; percent: bigint; active: boolean };

const number = fc.nat({ max: 1_000 });
const perMille = fc.oneof(fc.constant(1_000n), fc.bigInt(1n, 1_000n));
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('pay' as const),
      amountMinor: fc.oneof(fc.bigInt(400n, 900n), fc.bigInt(400n, 30_000n)),
      split: fc.nat({ max: 4 }),
      feeMinor: fc.constantFrom(0n, 0n, 37n),
      byCustomer: fc.boolean(),
    }),
  },
  { weight: 7, arbitrary: fc.record({ do: fc.constant('refund' as const), charge: number, perMille }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('end_refund' as const),
      refund: number,
      how: fc.constantFrom('paid' as const, 'refused' as const, 'reversed' as const),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('pay_out' as const), sub: number, perMille }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('end_payout' as const), payout: number, isPaid: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('change' as const),
      sub: number,
      percent: fc.bigInt(1n, 100n),
      active: fc.boolean(),
    }),
  },
);

interface Sub {
  id: string;
  active: boolean;
}

/** One walk, with sub-accounts of its own: two by themselves, and a group of two that leaves the merchant nothing. */
class Walk {
  readonly subs: Sub[];
  readonly groupId: string;
  readonly model: RefundModel;
  readonly charges: Charge[] = [];
  readonly refunds: { refund: Refund; model: ModelRefund }[] = [];
  readonly payouts: { transfer: Transfer; sub: string; isOpen: boolean }[] = [];

  constructor(subs: readonly string[], groupId: string, model: RefundModel) {
    this.subs = subs.map((id) => ({ id, active: true }));
    this.groupId = groupId;
    this.model = model;
  }

  run(step: Command): Promise<void> {
    switch (step.do) {
      case 'pay':
        return this.#pay(step);
      case 'refund':
        return this.#refund(step);
      case 'end_refund':
        return this.#endRefund(step);
      case 'pay_out':
        return this.#payOut(step);
      case 'end_payout':
        return this.#endPayout(step);
      case 'change':
        return this.#change(step);
    }
  }

  async #pay({ amountMinor, split, feeMinor, byCustomer }: Command & { do: 'pay' }): Promise<void> {
    const fixed = { percentHundredths: 0n, minimumMinor: 0n, maximumMinor: null };
    const payer = byCustomer ? 'customer' : 'business';
    const owner = await world.setFee({ ...fixed, fixedMinor: feeMinor, payer });
    const single = this.subs[split];
    const isShared = split < 3;
    const whom = single && split < 2 ? [single] : this.subs.slice(2);
    const request = {
      amountMinor,
      network: 'aps',
      split: isShared ? splitWith(single && split < 2 ? { subAccountId: single.id } : { groupId: this.groupId }) : null,
    };
    if (isShared && whom.some(({ active }) => !active)) {
      await assert.rejects(world.create(request, owner), withCode('sub_account_paused'));
      return;
    }
    const { intent, charge } = await world.create(request, owner);
    await applyResponse(world.context, charge, succeeded(charge));
    this.charges.push(charge);
    this.model.pay({
      paidMinor: charge.amountPaidMinor,
      feeMinor: charge.feeMinor,
      isFeeReturned: byCustomer,
      shares: new Map(intent.shares.map((share) => [share.subAccountId, share.amountMinor])),
    });
  }

  async #refund({ charge: pick, perMille: part }: Command & { do: 'refund' }): Promise<void> {
    const index = pick % Math.max(this.charges.length, 1);
    const [charge, model] = [this.charges[index], this.model.charges[index]];
    if (!charge || !model) return;
    const left = this.model.leftMinor(model);
    const amountMinor = (left * part) / 1_000n;
    if (amountMinor === 0n) {
      if (left === 0n) await assert.rejects(world.refund(charge), withCode('refund_not_possible'));
      return;
    }
    await assert.rejects(world.refund(charge, left + 1n), withCode('refund_not_possible'));
    const refund = await this.#refundAsModelled(charge, model, amountMinor);
    if (refund === null) return;
    const made = model.refunds.at(-1);
    assert.ok(made);
    this.refunds.push({ refund, model: made });
  }

  /** Null where the refund is refused, as the model expects or allows. */
  async #refundAsModelled(charge: Charge, model: ModelCharge, amountMinor: bigint): Promise<Refund | null> {
    if (this.model.refund(model, amountMinor, { canOwe: false })) return world.refund(charge, amountMinor);
    const refund = await world.refund(charge, amountMinor).catch((error: unknown) => {
      withCode('insufficient_balance')(error);
      return null;
    });
    if (refund !== null) {
      assert.ok(this.model.everOwed, 'only what repaid a debt may be given back beyond the balance');
      this.model.refund(model, amountMinor, { canOwe: true });
    }
    return refund;
  }

  async #endRefund({ refund: pick, how }: Command & { do: 'end_refund' }): Promise<void> {
    const requested = how === 'reversed' ? 'completed' : 'pending';
    const candidates = this.refunds.filter(({ model }) => model.status === requested);
    const chosen = candidates[pick % Math.max(candidates.length, 1)];
    if (!chosen) return;
    // Networks report only on what they were sent.
    await world.work();
    const { refund, model } = chosen;
    if (how === 'paid') this.model.complete(model);
    else this.model.undo(model);
    const responses = { paid: paidBack, refused, reversed: reversedPayout };
    await world.report(refund, responses[how](refund));
  }

  async #payOut({ sub: pick, perMille: part }: Command & { do: 'pay_out' }): Promise<void> {
    const sub = this.subs[pick % this.subs.length];
    assert.ok(sub);
    const amountMinor = ((this.model.subs.get(sub.id) ?? 0n) * part) / 1_000n;
    if (amountMinor === 0n) return;
    this.model.payOut(sub.id, amountMinor);
    this.payouts.push({ transfer: await world.acceptPayout(sub.id, amountMinor), sub: sub.id, isOpen: true });
  }

  async #endPayout({ payout: pick, isPaid }: Command & { do: 'end_payout' }): Promise<void> {
    const open = this.payouts.filter(({ isOpen }) => isOpen);
    const chosen = open[pick % Math.max(open.length, 1)];
    if (!chosen) return;
    await world.work();
    chosen.isOpen = false;
    this.model.endPayout(chosen.sub, chosen.transfer.amountMinor, isPaid);
    await world.report(chosen.transfer, isPaid ? paidBack(chosen.transfer) : refused());
  }

  /** A change of a sub-account applies to later payments only. */
  async #change({ sub: pick, percent, active }: Command & { do: 'change' }): Promise<void> {
    const sub = this.subs[pick % this.subs.length];
    assert.ok(sub);
    sub.active = active;
    const caller = { merchantId: world.merchant.id, testMode: true };
    const change = { percentHundredths: percent * 100n, active };
    await world.db.withTransaction((tx) =>
      updateSubAccount(tx, world.context, caller, { id: sub.id, change, prefix: '' }),
    );
  }

  async compare(): Promise<void> {
    const { model } = this;
    const ids = this.subs.map(({ id }) => id);
    const expected: [Account, bigint][] = [
      ['fees', model.feesMinor],
      ['held', model.heldMinor],
      ...ids.map((id): [Account, bigint] => [`sub:${id}`, model.subs.get(id) ?? 0n]),
      ...ids.map((id): [Account, bigint] => [`sub_owed:${id}`, model.owed.get(id) ?? 0n]),
    ];
    const found = await world.balances(...expected.map(([account]) => account));
    assert.deepEqual(found, Object.fromEntries(expected));
    const merchant = await world.balances('payable_available', 'receivable_merchant');
    assert.equal(merchant.payable_available - merchant.receivable_merchant, model.merchantMinor);
    for (const [index, charge] of this.charges.entries()) {
      const refunds = model.charges[index]?.refunds ?? [];
      const completed = refunds.filter(({ status }) => status === 'completed');
      const amountRefundedMinor = completed.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
      const now = await world.charge(charge);
      const status = amountRefundedMinor === charge.amountPaidMinor ? 'refunded' : 'completed';
      assert.deepEqual([now.amountRefundedMinor, now.status], [amountRefundedMinor, status]);
    }
    await world.verify();
  }
}

/** Makes sure that the walks have an advance and a refund that is refused. */
const sureWalk: Command[] = [
  { do: 'pay', amountMinor: 10_000n, split: 0, feeMinor: 0n, byCustomer: false },
  { do: 'pay_out', sub: 0, perMille: 1_000n },
  { do: 'end_payout', payout: 0, isPaid: true },
  { do: 'refund', charge: 0, perMille: 1_000n },
  { do: 'end_refund', refund: 0, how: 'refused' },
];

function withCode(code: string) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof AppError, String(error));
    assert.equal(error.code, code, error.message);
    return true;
  };
}

async function newWalk(): Promise<Walk> {
  const own = [await world.newSubAccount(20), await world.newSubAccount(95)];
  const group = await world.newGroup(50, 50);
  await world.spendAllBut(startMinor);
  const start = await world.balances('payable_available', 'fees', 'held', 'receivable_merchant');
  const model = new RefundModel({
    merchantMinor: start.payable_available - start.receivable_merchant,
    feesMinor: start.fees,
    heldMinor: start.held,
    everOwed: start.receivable_merchant > 0n,
  });
  return new Walk([...own, ...group.members], group.id, model);
}

test(`${walks} random walks of ${commandsPerWalk} steps: all balances match a model after each step`, async () => {
  const steps = fc.array(command, { minLength: commandsPerWalk, maxLength: commandsPerWalk });
  const seen = { advanced: 0, refused: 0, negative: 0 };
  await fc.assert(
    fc.asyncProperty(steps, async (commands) => {
      const walk = await newWalk();
      for (const step of commands) {
        await walk.run(step);
        await walk.compare();
      }
      const refunds = walk.model.charges.flatMap((charge) => charge.refunds);
      seen.advanced += refunds.filter(({ shares }) =>
        [...shares.values()].some((part) => part.advancedMinor > 0n),
      ).length;
      seen.negative += refunds.filter(({ fromMerchant }) => fromMerchant < 0n).length;
      seen.refused += refunds.filter(({ status }) => status === 'failed').length;
    }),
    { numRuns: walks, examples: [[sureWalk]], endOnFailure: true },
  );
  assert.ok(seen.advanced > 0 && seen.refused > 0, `the walks met what they are about: ${JSON.stringify(seen)}`);
});
