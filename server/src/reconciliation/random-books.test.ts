import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { effort } from '../../../test/harness/effort.ts';
import { dayMs, utcDay } from '../kit/clock.ts';
import type { StatementEntry } from '../networks/statement.ts';
import { applyResponse } from '../payments/apply-response.ts';
import { refused, reversed, succeeded } from '../payments/payment-world.corpus.ts';
import { acceptTransfer, newTransfer } from '../transfers/create-transfer.ts';
import type { DifferenceClass } from './compare.ts';
import { createStatementWorld, lastLineOf, lineOf, type StatementWorld } from './statement-world.corpus.ts';

let world: StatementWorld;
let made = 0;
let openingMinor = 0n;

before(async () => {
  world = await createStatementWorld();
  openingMinor = 123_456n;
});

after(() => world.close());

/** A record with its lines, and how they differ; `subject` is a line's transaction where there is no record. */
interface Planted {
  lines: StatementEntry[];
  expected: DifferenceClass | null;
  subject: string;
}

const kinds = [
  ...([
    'agrees',
    'agrees',
    'agrees',
    'late',
    'late_after_failure',
    'missing_there',
    'amount',
    'fee',
    'status',
  ] as const),
  ...(['same_transaction_twice', 'paid_twice', 'reversed', 'reversed_on_both', 'unknown_in', 'unknown_out'] as const),
  ...(['open', 'failed_on_both'] as const),
];
type Kind = (typeof kinds)[number];

const expectations: Record<Kind, DifferenceClass | null> = {
  ...{ agrees: null, reversed_on_both: null, open: null, failed_on_both: null },
  ...{ late: 'missing_here', late_after_failure: 'missing_here', missing_there: 'missing_there', amount: 'amount' },
  ...{ fee: 'fee', status: 'status', same_transaction_twice: 'duplicate', paid_twice: 'duplicate' },
  ...{ reversed: 'reversed', unknown_in: 'unknown', unknown_out: 'unknown' },
};

async function plantCharge(kind: Kind, amountMinor: bigint, feeMinor: bigint): Promise<Planted> {
  made += 1;
  const at = world.clock.now();
  const { charge } = await world.create({ network: 'wave', amountMinor });
  const { reference } = charge;
  const transactionId = `C-${made}`;
  const line = (changes: Partial<StatementEntry> = {}) =>
    lineOf({ transactionId, at, reference, grossMinor: amountMinor, feeMinor, ...changes });
  const planted = (...lines: StatementEntry[]): Planted => ({
    lines,
    expected: expectations[kind],
    subject: charge.id,
  });
  const pay = () =>
    applyResponse(world.context, charge, succeeded(charge, { transactionId, networkFeeMinor: feeMinor }));
  const back = {
    kind: 'collection_reversal',
    transactionId: `R-${made}`,
    originalTransactionId: transactionId,
    reference: null,
    feeMinor: null,
  } as const;
  switch (kind) {
    case 'late':
      return planted(line());
    case 'late_after_failure':
      await applyResponse(world.context, charge, refused);
      return planted(line());
    case 'open':
      return planted();
    case 'failed_on_both':
      await applyResponse(world.context, charge, refused);
      return planted(line({ status: 'failed' }));
    case 'reversed_on_both':
      await pay();
      await applyResponse(world.context, charge, reversed(charge, { transactionId, networkFeeMinor: feeMinor }));
      return planted(line(), line(back));
    default:
  }
  await pay();
  switch (kind) {
    case 'missing_there':
      return planted();
    case 'amount':
      return planted(line({ grossMinor: amountMinor + 700n }));
    case 'fee':
      return planted(line({ feeMinor: feeMinor + 3n }));
    case 'status':
      return planted(line({ status: 'failed' }));
    case 'same_transaction_twice':
      return planted(line(), line());
    case 'paid_twice':
      return planted(line(), line({ transactionId: `${transactionId}-2` }));
    case 'reversed':
      return planted(line(), line(back));
    default:
      return planted(line({ reference: made % 2 === 0 ? reference : null }));
  }
}

async function plantTransfer(kind: Kind, amountMinor: bigint, feeMinor: bigint): Promise<Planted> {
  made += 1;
  const at = world.clock.now();
  const transfer = newTransfer(world.context, world.merchant, {
    ...{
      kind: 'transfer',
      railAccount: 'rail-wave',
      amountMinor,
      feeMinor: 100n,
      network: 'wave',
      accountNumber: '7001234',
    },
    ...{
      accountCanonical: '+220877001234',
      beneficiaryName: null,
      narration: null,
      callbackUrl: null,
      metadata: {},
      subAccountId: null,
    },
  });
  await world.db.withTransaction((tx) =>
    acceptTransfer(tx, world.context, world.merchant, transfer, [
      { account: 'payable_available', amountMinor: amountMinor + 100n },
    ]),
  );
  await world.work();
  const { reference, id: subject } = transfer;
  const transactionId = `P-${made}`;
  const line = (changes: Partial<StatementEntry> = {}) =>
    lineOf({ kind: 'payout', transactionId, at, reference, grossMinor: amountMinor, feeMinor, ...changes });
  const planted = (...lines: StatementEntry[]): Planted => ({ lines, expected: expectations[kind], subject });
  const money = {
    transactionId,
    networkReference: transactionId,
    amountMinor,
    currency: 'GMD',
    networkFeeMinor: feeMinor,
  };
  const back = {
    kind: 'payout_reversal',
    transactionId: `R-${made}`,
    originalTransactionId: transactionId,
    reference: null,
    feeMinor: null,
  } as const;
  const refusal = { state: 'refused', failure: { code: 'account_blocked', reason: 'Blocked.' } } as const;
  switch (kind) {
    case 'late':
      return planted(line());
    case 'late_after_failure':
      await world.report(transfer, refusal);
      return planted(line());
    case 'open':
      return planted();
    case 'failed_on_both':
      await world.report(transfer, refusal);
      return planted(line({ status: 'failed' }));
    default:
  }
  await world.report(transfer, { state: 'succeeded', providerTransaction: money });
  switch (kind) {
    case 'missing_there':
      return planted();
    case 'amount':
      return planted(line({ grossMinor: amountMinor - 700n }));
    case 'fee':
      return planted(line({ feeMinor: feeMinor + 3n }));
    case 'status':
      return planted(line({ status: 'failed' }));
    case 'same_transaction_twice':
      return planted(line(), line());
    case 'paid_twice':
      return planted(line(), line({ transactionId: `${transactionId}-2` }));
    case 'reversed':
      return planted(line(), line(back));
    case 'reversed_on_both':
      await world.report(transfer, { state: 'reversed', providerTransaction: money });
      return planted(line(), line(back));
    default:
      return planted(line({ reference: made % 2 === 0 ? reference : null }));
  }
}

function plantUnknown(kind: Kind, amountMinor: bigint): Planted {
  made += 1;
  const isIn = kind === 'unknown_in';
  const transactionId = `U-${made}`;
  const at = world.clock.now();
  const line = lineOf({ transactionId, at, grossMinor: amountMinor, kind: isIn ? 'collection' : 'payout' });
  return { lines: [line], expected: 'unknown', subject: transactionId };
}

interface Plan {
  kind: Kind;
  isTransfer: boolean;
  amountMinor: bigint;
  feeMinor: bigint;
}

const plan: fc.Arbitrary<Plan> = fc.record({
  kind: fc.constantFrom(...kinds),
  isTransfer: fc.boolean(),
  amountMinor: fc.bigInt({ min: 2_000n, max: 50_000n }),
  feeMinor: fc.bigInt({ min: 0n, max: 100n }),
});

async function plant({ kind, isTransfer, amountMinor, feeMinor }: Plan): Promise<Planted> {
  await world.clock.advance(1_000);
  if (kind === 'unknown_in' || kind === 'unknown_out') return plantUnknown(kind, amountMinor);
  return isTransfer ? plantTransfer(kind, amountMinor, feeMinor) : plantCharge(kind, amountMinor, feeMinor);
}

test('each planted difference is found once and as what it is, and the float is proved', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(plan, { minLength: 1, maxLength: 25 }), async (plans) => {
      const day = utcDay(world.clock.now());
      const planted: Planted[] = [];
      for (const each of plans) planted.push(await plant(each));
      const lines = [...planted.flatMap((each) => each.lines), lastLineOf(day)];
      await world.state(lines, openingMinor);
      openingMinor += lines.reduce((sum, { netMinor }) => sum + netMinor, 0n);
      await world.clock.advance(dayMs);
      const result = await world.run(day);
      const found = (await world.differencesOf(day)).map((each) => [each.subjectId, each.class]);
      const named = await Promise.all(found.map(async ([id, kind]) => [await nameOf(id ?? ''), kind]));
      const expected = planted.flatMap(({ expected: kind, subject }) => (kind === null ? [] : [[subject, kind]]));
      assert.deepEqual(named.toSorted(), expected.toSorted());
      assert.equal(result.unexplainedMinor, 0n);
      assert.equal(result.gaps, 0n);
      assert.equal(
        result.matched,
        BigInt(planted.filter((each) => each.expected === null && each.lines.length > 0).length),
      );
      const again = await world.run(day);
      assert.deepEqual([again.unexplainedMinor, (await world.differencesOf(day)).length], [0n, expected.length]);
      await world.verify();
    }),
    { numRuns: effort({ usual: 6, long: 100 }), endOnFailure: true },
  );
});

/** A line by its transaction, a record by its id. */
async function nameOf(id: string): Promise<string> {
  const row = await world.db.row<{ transactionId: string }>({
    name: 'test_line_name',
    text: 'SELECT transaction_id AS "transactionId" FROM statement_lines WHERE id = $1',
    values: [id],
  });
  return row?.transactionId ?? id;
}
