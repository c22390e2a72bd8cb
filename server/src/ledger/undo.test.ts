import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Account } from './accounts.ts';
import { PlannedMovements } from './planned-movements.ts';
import { partOf } from './undo.ts';

const minor = fc.bigInt({ min: 0n, max: 5_000n });

const sum = (parts: ReadonlyMap<Account, bigint>): bigint => [...parts.values()].reduce((all, one) => all + one, 0n);

test('partial reversals of a posting balance, stay above zero and add up to within bututs', () => {
  fc.assert(
    fc.property(
      fc.record({ own: minor, available: minor, owed: minor, fee: fc.bigInt({ min: 0n, max: 300n }) }),
      fc.array(fc.bigInt({ min: 1n, max: 4_000n }), { maxLength: 12 }),
      ({ own, available, owed, fee }, cuts) => {
        const wholeMinor = own + available + owed + 1n;
        const credited = new Map<Account, bigint>([
          ['float:rail-wave', wholeMinor],
          ['fees', fee],
        ]);
        const debited = new Map<Account, bigint>([
          ['sub:awa', own],
          ['payable_available', available + fee + 1n],
          ['receivable_merchant', owed],
        ]);
        const back = new Map<Account, bigint>();
        let beforeMinor = 0n;
        for (const cut of [...cuts, wholeMinor]) {
          const partMinor = cut < wholeMinor - beforeMinor ? cut : wholeMinor - beforeMinor;
          if (partMinor === 0n) continue;
          const part = partOf({ credited, debited }, { beforeMinor, partMinor, wholeMinor });
          assert.equal(part.credited.get('float:rail-wave'), partMinor);
          assert.equal(sum(part.credited), sum(part.debited));
          assert.ok([...part.credited.values(), ...part.debited.values()].every((one) => one >= 0n));
          for (const [account, amountMinor] of part.debited) {
            back.set(account, (back.get(account) ?? 0n) + amountMinor);
          }
          beforeMinor += partMinor;
        }
        for (const [account, whole] of debited) {
          const differs = (back.get(account) ?? 0n) - whole;
          assert.ok(differs >= -3n && differs <= 3n, `${account}: ${differs}`);
        }
      },
    ),
  );
});

test('a plan counts balances as the ledger does, and a credit can be paid from its repayments', () => {
  const plan = new PlannedMovements(
    new Map<Account, bigint>([
      ['payable_available', 300n],
      ['sub_owed:awa', 500n],
    ]),
  );
  plan.add({ debit: 'due_from_subs', credit: 'sub_owed:awa', amountMinor: 100n });
  assert.equal(plan.balanceOf('sub_owed:awa'), 400n, 'a credit makes a debt smaller');
  const from = { sources: ['payable_available'], last: 'receivable_merchant' } as const;
  plan.credit({ credit: 'sub:awa', amountMinor: 1_000n }, from, (balances) => [
    { debit: 'sub:awa', credit: 'payable_available', amountMinor: balances.get('sub_owed:awa') ?? 0n },
  ]);
  const accounts = ['payable_available', 'sub:awa', 'receivable_merchant'] as const;
  assert.deepEqual(
    accounts.map((account) => plan.balanceOf(account)),
    [0n, 600n, 300n],
  );
});
