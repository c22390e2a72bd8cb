import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, test } from 'node:test';
import fc from 'fast-check';
import { effort } from '../../../test/harness/effort.ts';
import { parseHundredths } from '../kit/money.ts';
import type { ChargeParts } from '../payments/charge.ts';
import { divideRefund, type PartlyRefunded } from './divide-refund.ts';

// The table of docs/splits.md, which another program calculated.
const page = readFileSync(join(import.meta.dirname, '../../../docs/splits.md'), 'utf8');
const rows = (page.split('\n## Refunds')[1] ?? '')
  .split('\n')
  .filter((line) => /^\| \d/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()));

function minor(text: string): bigint {
  const parsed = parseHundredths(text.replace('-', ''));
  assert.ok(parsed !== undefined, `${text} is not an amount`);
  return text.startsWith('-') ? -parsed : parsed;
}

/** `3 × 33.33, 1.00` are four amounts. */
function amountsOf(cell: string): bigint[] {
  if (cell === '—') return [];
  return cell.split(', ').flatMap((entry) => {
    const [first = '', value] = entry.split(' × ');
    return value === undefined ? [minor(first)] : Array.from({ length: Number(first) }, () => minor(value));
  });
}

/** A charge with its refunds, without a database. */
class Refunded {
  readonly #receivedMinor: bigint;
  readonly #receivedParts: ChargeParts;
  readonly #feeIsReturned: boolean;
  readonly #all: { amountMinor: bigint; parts: ChargeParts; isActive: boolean }[] = [];

  constructor(paidMinor: bigint, feeMinor: bigint, payer: string, shares: readonly bigint[]) {
    this.#receivedMinor = paidMinor;
    this.#feeIsReturned = payer === 'customer';
    const share = (amountMinor: bigint, index: number) => {
      return { subAccountId: String(index), percentHundredths: 1n, amountMinor };
    };
    const merchantMinor = shares.reduce((rest, amountMinor) => rest - amountMinor, paidMinor - feeMinor);
    this.#receivedParts = { feeMinor, shares: shares.map(share), merchantMinor };
  }

  get state(): PartlyRefunded {
    const active = this.#all.filter(({ isActive }) => isActive);
    const returnedByShare = new Map<string, bigint>();
    for (const { subAccountId, amountMinor } of active.flatMap(({ parts }) => parts.shares)) {
      returnedByShare.set(subAccountId, (returnedByShare.get(subAccountId) ?? 0n) + amountMinor);
    }
    return {
      receivedMinor: this.#receivedMinor,
      receivedParts: this.#receivedParts,
      isFeeReturned: this.#feeIsReturned,
      refundedMinor: active.reduce((sum, { amountMinor }) => sum + amountMinor, 0n),
      returnedFeeMinor: active.reduce((sum, { parts }) => sum + parts.feeMinor, 0n),
      returnedByShare,
    };
  }

  get leftMinor(): bigint {
    return this.#receivedMinor - this.state.refundedMinor;
  }

  refund(amountMinor: bigint): ChargeParts {
    const parts = divideRefund(this.state, amountMinor);
    this.#all.push({ amountMinor, parts, isActive: true });
    return parts;
  }

  fail(number: number): void {
    const refund = this.#all[number - 1];
    if (refund) refund.isActive = false;
  }
}

describe('the table of refunds in docs/splits.md', () => {
  it('has at least the expected number of rows', () => {
    assert.ok(rows.length >= 15, `there are ${rows.length}`);
  });
  for (const [, number, paid = '', fee = '', payer = '', shares = '', steps = '', ...gives] of rows) {
    it(`row ${number}: ${paid} of which ${shares} are shares, refunded ${steps}`, () => {
      const charge = new Refunded(minor(paid), minor(fee), payer, amountsOf(shares));
      const divided: ChargeParts[] = [];
      for (const step of steps.split('; ')) {
        const failing = /^(\d+) fails$/.exec(step)?.[1];
        if (failing !== undefined) charge.fail(Number(failing));
        else divided.push(charge.refund(step === 'rest' ? charge.leftMinor : minor(step)));
      }
      const [shareCells, feeCells, merchantCells] = gives.map((cell) => cell.split('; '));
      assert.deepEqual(
        divided.map((parts) => parts.shares.map(({ amountMinor }) => amountMinor)),
        shareCells?.map(amountsOf),
      );
      assert.deepEqual(
        divided.map(({ feeMinor }) => feeMinor),
        feeCells?.map(minor),
      );
      assert.deepEqual(
        divided.map(({ merchantMinor }) => merchantMinor),
        merchantCells?.map(minor),
      );
    });
  }
});

const randomCharge = fc
  .record({
    shares: fc.array(fc.oneof(fc.constant(100n), fc.bigInt(100n, 50_000n)), { maxLength: 20 }),
    feeMinor: fc.oneof(fc.constant(0n), fc.bigInt(1n, 5_000n)),
    restMinor: fc.oneof(fc.constant(0n), fc.bigInt(1n, 100_000n)),
    payer: fc.constantFrom('business', 'customer'),
  })
  .filter(({ shares, restMinor }) => shares.length > 0 || restMinor > 0n);

const randomSteps = fc.array(
  fc.record({ partPerMille: fc.bigInt(0n, 1_000n), fails: fc.constantFrom(0, 0, 1, 2, 3) }),
  { maxLength: 12 },
);

test('random partial refunds, some failing, add up exactly and take no more than each received', () => {
  fc.assert(
    fc.property(randomCharge, randomSteps, ({ shares, feeMinor, restMinor, payer }, steps) => {
      const paidMinor = shares.reduce((sum, amountMinor) => sum + amountMinor, feeMinor + restMinor);
      const charge = new Refunded(paidMinor, feeMinor, payer, shares);
      const check = (amountMinor: bigint) => {
        const parts = charge.refund(amountMinor);
        const sumMinor = parts.shares.reduce(
          (sum, share) => sum + share.amountMinor,
          parts.feeMinor + parts.merchantMinor,
        );
        assert.equal(sumMinor, amountMinor);
        const { returnedByShare, returnedFeeMinor } = charge.state;
        assert.ok(parts.feeMinor >= 0n && returnedFeeMinor <= feeMinor);
        for (const [index, share] of shares.entries()) {
          assert.ok((parts.shares[index]?.amountMinor ?? -1n) >= 0n, 'a refund never credits a share');
          assert.ok((returnedByShare.get(String(index)) ?? 0n) <= share, 'a share returns no more than it received');
        }
      };
      for (const { partPerMille, fails } of steps) {
        if (fails > 0) charge.fail(fails);
        const amountMinor = (charge.leftMinor * partPerMille) / 1_000n;
        if (amountMinor > 0n) check(amountMinor);
      }
      if (charge.leftMinor > 0n) check(charge.leftMinor);
      const { returnedByShare, returnedFeeMinor } = charge.state;
      assert.deepEqual(
        shares.map((_share, index) => returnedByShare.get(String(index))),
        shares,
      );
      assert.equal(returnedFeeMinor, payer === 'customer' ? feeMinor : 0n);
    }),
    { numRuns: effort({ usual: 2_000, long: 100_000 }) },
  );
});
