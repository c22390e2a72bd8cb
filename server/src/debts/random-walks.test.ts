import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { effort } from '../../../test/harness/effort.ts';
import { AppError } from '../api/app-error.ts';
import type { Charge } from '../payments/charge.ts';
import { reversedPayout, paidBack, refused, splitWith } from '../refunds/refund-world.corpus.ts';
import { deleteSubAccount } from '../settlement/delete-sub-account.ts';
import { createDebtWorld, type DebtWorld } from './debt-world.corpus.ts';

const walks = effort({ usual: 7, long: 400 });
const roundsPerWalk = effort({ usual: 4, long: 8 });
const stepsPerRound = effort({ usual: 6, long: 12 });

let world: DebtWorld;

before(async () => {
  world = await createDebtWorld();
  await world.openConnections();
});

after(() => world.close());

/** `pick` chooses from what exists when a round begins; a step that finds nothing to pick does nothing. */
type Step =
  | { do: 'collect'; amountMinor: bigint; sub: number | null }
  | { do: 'transfer' | 'pay_out'; amountMinor: bigint; pick: number }
  | { do: 'refund'; pick: number; perMille: bigint }
  | { do: 'reverse' | 'delete' | 'net'; pick: number }
  | { do: 'waive' | 'write_off'; pick: number; perMille: bigint }
  | { do: 'end'; pick: number; how: 'paid' | 'refused' | 'reversed' };

const pick = fc.nat({ max: 1_000 });
const amountMinor = fc.bigInt(500n, 12_000n);
const perMille = fc.oneof(fc.constant(1_000n), fc.bigInt(1n, 1_000n));
const how = fc.constantFrom('paid' as const, 'refused' as const, 'reversed' as const);
const does = <Name extends string>(name: Name) => fc.constant(name);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: does('collect'), amountMinor, sub: fc.option(fc.nat({ max: 1 })) }),
  },
  { weight: 4, arbitrary: fc.record({ do: does('transfer'), amountMinor, pick }) },
  { weight: 2, arbitrary: fc.record({ do: does('pay_out'), amountMinor, pick }) },
  { weight: 3, arbitrary: fc.record({ do: does('refund'), pick, perMille }) },
  { weight: 5, arbitrary: fc.record({ do: does('end'), pick, how }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('waive' as const, 'write_off' as const), pick, perMille }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('reverse' as const, 'reverse' as const, 'delete' as const, 'net' as const),
      pick,
    }),
  },
);

interface SentMoney {
  id: string;
  reference: string;
  network: string;
  amountMinor: bigint;
  currency: string;
}

function sentBy({ pick: index }: Step & { do: 'end' }, sent: readonly SentMoney[]): SentMoney | undefined {
  return sent[index % Math.max(sent.length, 1)];
}

/** The refusals that concurrent steps can cause; any other failure is a bug. */
const expectedRefusals = new Set([
  'merchant_owes',
  'insufficient_balance',
  'balance_below_minimum',
  'refund_not_possible',
  'sub_account_in_use',
  'not_found',
  'state_conflict',
  // A waiver of what was repaid concurrently.
  'amount_out_of_bounds',
  // A lock timeout on a busy machine.
  'unavailable',
]);

class Walk {
  readonly subs: readonly string[];
  readonly charges: Charge[] = [];
  readonly sent: SentMoney[] = [];
  /** How many payouts of each sub-account were accepted. */
  readonly paidOut = new Map<string, number>();
  readonly seen: Map<string, number>;
  /** What the operator's capital was when the walk began, in bututs. */
  readonly #capitalBefore: bigint;

  constructor(subs: readonly string[], capitalBefore: bigint, seen: Map<string, number>) {
    this.subs = subs;
    this.#capitalBefore = capitalBefore;
    this.seen = seen;
  }

  /** Runs the steps concurrently on what existed before, then does what is due and runs the chores until nothing changes. */
  async round(steps: readonly Step[]): Promise<void> {
    const { charges, sent } = { charges: [...this.charges], sent: [...this.sent] };
    const { receivable_merchant: owedBefore } = await world.own();
    const transfersBefore = this.#times('transfer accepted');
    const subsBefore = await this.#subAccounts();
    const paidOutBefore = new Map(this.paidOut);
    await Promise.all(steps.map((one) => this.#attempt(one, { charges, sent })));
    const ended = steps.flatMap((one) => (one.do === 'end' ? [sentBy(one, sent)] : []));
    const received = [...ended, ...this.charges.slice(charges.length)];
    const receivedMax = received.reduce((sum, one) => sum + (one?.amountMinor ?? 0n), 0n);
    if (owedBefore > receivedMax) {
      assert.equal(
        this.#times('transfer accepted'),
        transfersBefore,
        'no transfer leaves while more is owed than can have come',
      );
      this.#count('round in debt throughout');
    }
    for (const { id, owes } of subsBefore) {
      if (owes <= receivedMax) continue;
      assert.equal(this.paidOut.get(id), paidOutBefore.get(id), 'no payout leaves a sub-account that owes throughout');
      this.#count('round with a sub-account in debt throughout');
    }
    // Networks report only on what they were sent.
    await world.work();
    while ((await world.syncDebts()) + (await world.repaySubAccounts()) > 0);
    await this.#atRest();
  }

  /**
   * What the operator bears, owed or written off, is at most the money that is still missing: reversed by networks, paid late, or
   * pending refunds. Money that returned belongs to those who paid it.
   */
  async #bearsOnlyWhatIsOut(): Promise<void> {
    const { receivable_merchant: owed, capital } = await world.balances('receivable_merchant', 'capital');
    const writtenOff = this.#capitalBefore - capital;
    assert.ok(writtenOff >= 0n, 'the operator recovers at most what was written off');
    const ids = [...this.charges, ...this.sent].map(({ id }) => id);
    const row = await world.db.row<{ sum: string }>({
      name: 'test_money_out',
      text: `SELECT (COALESCE((SELECT sum(amount_paid) FROM charges
                               WHERE merchant_id = $1 AND id = ANY ($2::uuid[]) AND status = 'reversed'), 0)
                   + COALESCE((SELECT sum(amount + fee) FROM transfers
                               WHERE merchant_id = $1 AND id = ANY ($2::uuid[])
                                 AND (review = 'late_success' OR kind = 'refund' AND status IN ('pending', 'completed'))), 0)
                   + COALESCE((SELECT sum(amount) FROM ledger_movements
                               WHERE merchant_id = $1 AND source_id = ANY ($2::uuid[]) AND flow <> 'debt_written_off'
                                 AND debit_account = 'receivable_merchant' AND credit_account LIKE 'sub:%'), 0))::text AS sum`,
      values: [world.merchant.id, ids],
    });
    const out = BigInt(row?.sum ?? '0');
    assert.ok(owed + writtenOff <= out, `${owed} owed and ${writtenOff} written off of ${out} that are missing`);
    if (writtenOff > 0n) this.#count('written off at rest');
  }

  async #atRest(): Promise<void> {
    await world.verify();
    await this.#bearsOnlyWhatIsOut();
    for (const { id, has, owes } of await this.#subAccounts()) {
      if (owes === 0n) continue;
      assert.equal(has, 0n, 'no sub-account has money while owing it');
      const refusal = (error: unknown) => error instanceof AppError && error.code === 'balance_below_minimum';
      await assert.rejects(world.requestPayout(id, null), refusal);
      this.#count('sub-account’s debt at rest');
    }
    const own = await world.own();
    if (own.receivable_merchant === 0n) return;
    assert.deepEqual([own.payable_available, own.payable_pending], [0n, 0n], 'nobody has money while owing it');
    await assert.rejects(world.transferOut(1n), (error) => error instanceof AppError && error.code === 'merchant_owes');
    this.#count('debt at rest');
  }

  /** What each can be paid, and what it owes the merchant; deleted ones have and owe nothing. */
  #subAccounts(): Promise<{ id: string; has: bigint; owes: bigint }[]> {
    return Promise.all(
      this.subs.map(async (id) => {
        const balances = await world.balances(`sub:${id}`, `sub_owed:${id}`);
        return { id, has: balances[`sub:${id}`] ?? 0n, owes: balances[`sub_owed:${id}`] ?? 0n };
      }),
    );
  }

  async #payOut(id: string, amountMinor: bigint): Promise<void> {
    this.sent.push(await world.requestPayout(id, amountMinor));
    this.paidOut.set(id, (this.paidOut.get(id) ?? 0) + 1);
  }

  async #attempt(one: Step, known: { charges: Charge[]; sent: SentMoney[] }): Promise<void> {
    try {
      await this.#do(one, known);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const isOfDeleted = one.do === 'collect' && error.code === 'invalid_request';
      if (!isOfDeleted && !expectedRefusals.has(error.code)) throw error;
      this.#count(`${one.do} ${error.code}`);
    }
  }

  async #do(one: Step, { charges, sent }: { charges: Charge[]; sent: SentMoney[] }): Promise<void> {
    switch (one.do) {
      case 'collect': {
        const subAccountId = one.sub === null ? undefined : this.subs[one.sub];
        const split = subAccountId === undefined ? null : splitWith({ subAccountId });
        this.charges.push(await world.collect({ amountMinor: one.amountMinor, split }));
        return;
      }
      case 'transfer':
        this.sent.push(await world.transferOut(one.amountMinor));
        this.#count('transfer accepted');
        return;
      case 'pay_out':
        return this.#payOut(this.subs[one.pick % this.subs.length] ?? '', one.amountMinor);
      case 'refund': {
        const charge = charges[one.pick % Math.max(charges.length, 1)];
        const part = charge ? (charge.amountMinor * one.perMille) / 1_000n : 0n;
        if (!charge || part === 0n) return;
        this.sent.push(await world.refund(charge, part));
        this.#count('refund accepted');
        return;
      }
      case 'reverse': {
        const charge = charges[one.pick % Math.max(charges.length, 1)];
        if (charge) await world.reverse(charge);
        return;
      }
      case 'delete':
        return world.db.withTransaction((tx) =>
          deleteSubAccount(tx, world.context.clock, world.merchant, this.subs[one.pick % this.subs.length] ?? ''),
        );
      case 'net':
        await world.syncDebts();
        return;
      case 'waive': {
        const id = this.subs[one.pick % this.subs.length] ?? '';
        const part = ((await world.balance(`sub_owed:${id}`)) * one.perMille) / 1_000n;
        if (part === 0n) return;
        await world.waive(id, part);
        this.#count('waived');
        return;
      }
      case 'write_off': {
        const part = ((await world.own()).receivable_merchant * one.perMille) / 1_000n;
        if (part === 0n) return;
        await world.writeOff(part);
        this.#count('written off');
        return;
      }
      case 'end': {
        const ended = sentBy(one, sent);
        const responses = { paid: paidBack, refused, reversed: reversedPayout };
        if (ended) await world.report(ended, responses[one.how](ended));
      }
    }
  }

  #times(what: string): number {
    return this.seen.get(what) ?? 0;
  }

  #count(what: string): void {
    this.seen.set(what, this.#times(what) + 1);
  }
}

/** Falls into debt, whatever the random rounds do: all is paid out, then the payment is reversed. */
const sureRounds: Step[][] = [
  [{ do: 'collect', amountMinor: 12_000n, sub: null }],
  [{ do: 'transfer', amountMinor: 12_000n, pick: 0 }],
  [{ do: 'end', pick: 0, how: 'paid' }],
  [
    { do: 'reverse', pick: 0 },
    { do: 'collect', amountMinor: 5_000n, sub: 0 },
  ],
  [
    { do: 'transfer', amountMinor: 500n, pick: 0 },
    { do: 'refund', pick: 1, perMille: 1_000n },
  ],
];

/** Leaves the first sub-account in debt: its share was paid out when its payment was refunded. */
const sureSubAccountRounds: Step[][] = [
  [{ do: 'collect', amountMinor: 12_000n, sub: 0 }],
  [{ do: 'collect', amountMinor: 12_000n, sub: null }],
  [{ do: 'pay_out', amountMinor: 2_400n, pick: 0 }],
  [{ do: 'end', pick: 0, how: 'paid' }],
  [{ do: 'refund', pick: 0, perMille: 1_000n }],
  [{ do: 'pay_out', amountMinor: 1_000n, pick: 0 }],
  [
    { do: 'collect', amountMinor: 10_000n, sub: 0 },
    { do: 'pay_out', amountMinor: 1_000n, pick: 0 },
  ],
];

/** A transfer is paid late, its debt is written off, and the network reverses it. */
const sureWriteOffRounds: Step[][] = [
  [{ do: 'collect', amountMinor: 6_000n, sub: null }],
  [{ do: 'transfer', amountMinor: 6_000n, pick: 0 }],
  [{ do: 'end', pick: 0, how: 'refused' }],
  [{ do: 'transfer', amountMinor: 6_000n, pick: 0 }],
  [{ do: 'end', pick: 0, how: 'paid' }],
  [{ do: 'write_off', pick: 0, perMille: 1_000n }],
  [{ do: 'end', pick: 0, how: 'reversed' }],
];

/** A payout is paid twice, what it owes for it is waived, the merchant falls into debt, and the payout is reversed. */
const sureWaiverRounds: Step[][] = [
  [{ do: 'collect', amountMinor: 12_000n, sub: 1 }],
  [{ do: 'pay_out', amountMinor: 7_200n, pick: 1 }],
  [{ do: 'end', pick: 0, how: 'refused' }],
  [{ do: 'pay_out', amountMinor: 7_200n, pick: 1 }],
  [{ do: 'collect', amountMinor: 2_400n, sub: null }],
  [{ do: 'end', pick: 0, how: 'paid' }],
  [{ do: 'waive', pick: 1, perMille: 1_000n }],
  [{ do: 'reverse', pick: 1 }],
  [{ do: 'end', pick: 0, how: 'reversed' }],
];

test(`in ${walks} concurrent random walks nobody keeps money while in debt or gets what others bore`, async () => {
  const rounds = fc.array(fc.array(step, { minLength: 1, maxLength: stepsPerRound }), {
    minLength: roundsPerWalk,
    maxLength: roundsPerWalk,
  });
  const seen = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(rounds, async (those) => {
      await world.clear();
      const walk = new Walk(
        [await world.newSubAccount(20), await world.newSubAccount(60)],
        await world.balance('capital'),
        seen,
      );
      for (const steps of those) await walk.round(steps);
    }),
    {
      numRuns: walks,
      examples: [[sureRounds], [sureSubAccountRounds], [sureWriteOffRounds], [sureWaiverRounds]],
      endOnFailure: true,
    },
  );
  const met = [
    'transfer accepted',
    'refund accepted',
    'debt at rest',
    'round in debt throughout',
    'sub-account’s debt at rest',
    'round with a sub-account in debt throughout',
    'waived',
    'written off at rest',
  ];
  for (const what of met) assert.ok(seen.has(what), `no walk met ${what}: ${JSON.stringify([...seen])}`);
});
