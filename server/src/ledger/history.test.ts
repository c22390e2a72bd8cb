import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { genericPlans } from '../../../test/harness/explain.ts';
import { seededRandom } from '../kit/random.ts';
import type { Account } from './accounts.ts';
import { explainBalance, readStatement, type BalanceLine } from './history.ts';
import { createLedgerWorld, type LedgerWorld } from './ledger-world.corpus.ts';
import { listOwedAccounts } from './queries/debts.ts';

const currency = 'GMD';
const sub = 'sub:01a1f8ac-4b37-7417-9fed-11d78420f700';
const pending = `${sub}:pending` as const;
const accounts: readonly Account[] = [
  'float:wave',
  'payable_available',
  'payable_pending',
  sub,
  pending,
  'sub:another',
  'network_costs',
];

interface Step {
  at: Date;
  balances: Map<Account, bigint>;
}

let world: LedgerWorld;

before(async () => {
  world = await createLedgerWorld();
});
after(() => world.close());

/** A merchant with a history that a few lines of arithmetic follow: what each account had after each step. */
async function history(seed: string, count: number): Promise<{ merchantId: string; steps: Step[] }> {
  const merchantId = await world.newMerchant();
  const random = seededRandom(seed);
  const pick = (below: number): number => (Buffer.from(random.bytes(2)).readUInt16BE(0) * below) >>> 16;
  const balances = new Map<Account, bigint>(accounts.map((account) => [account, 0n]));
  const steps: Step[] = [];
  const move = async (debit: Account, credit: Account, amountMinor: bigint): Promise<void> => {
    await world.post(merchantId, { debit, credit, amountMinor });
    const grows = (account: Account) => (account.startsWith('float') || account === 'network_costs' ? 1n : -1n);
    balances.set(debit, (balances.get(debit) ?? 0n) + grows(debit) * amountMinor);
    balances.set(credit, (balances.get(credit) ?? 0n) - grows(credit) * amountMinor);
    steps.push({ at: world.clock.now(), balances: new Map(balances) });
  };
  for (let index = 0; index < count; index += 1) {
    // Several movements of one moment, and moments apart.
    if (pick(3) === 0) await world.clock.advance(1 + pick(5_000));
    const credit = (['payable_available', 'payable_pending', sub, pending, 'sub:another'] as const)[pick(5)] ?? sub;
    const amountMinor = BigInt(1 + pick(10_000));
    const has = balances.get(credit) ?? 0n;
    if (pick(3) === 0 && has > 0n) {
      const isSettlement = credit === pending;
      const part = has / 2n + 1n;
      await (isSettlement ? move(pending, sub, part) : move(credit, 'float:wave', part));
    } else await move(pick(10) === 0 ? 'network_costs' : 'float:wave', credit, amountMinor);
  }
  return { merchantId, steps };
}

/** All pages of the lines behind a balance. */
async function linesBehind(
  merchantId: string,
  account: Account,
  at: Date | null,
  rows: number,
): Promise<BalanceLine[]> {
  const lines: BalanceLine[] = [];
  let before: string | null = null;
  for (;;) {
    const query = { merchantId, account, currency, at, before, rowsMax: rows + 1 };
    const page: BalanceLine[] = (await explainBalance(world.db, query)).lines;
    lines.push(...page.slice(0, rows));
    if (page.length <= rows) return lines;
    before = lines.at(-1)?.id ?? null;
  }
}

function assertAddsUp(lines: readonly BalanceLine[], balanceMinor: bigint, what: string): void {
  let expected = balanceMinor;
  for (const line of lines) {
    assert.equal(line.balanceMinor, expected, what);
    expected -= line.changeMinor;
  }
  assert.equal(expected, 0n, `${what}: before the first movement there was nothing`);
}

describe('the movements behind a balance', () => {
  test('add up to the balance, for every account at every moment, page by page', async () => {
    const { merchantId, steps } = await history('explain', 60);
    for (const account of accounts) {
      for (const at of [null, ...new Set(steps.map((step) => step.at.getTime()))]) {
        const moment = at === null ? null : new Date(at);
        const known = steps.findLast((step) => moment === null || step.at <= moment)?.balances.get(account) ?? 0n;
        const query = { merchantId, account, currency, at: moment, before: null, rowsMax: 5 };
        const explained = await explainBalance(world.db, query);
        const what = `${account} at ${String(moment?.toISOString())}`;
        assert.equal(explained.balanceMinor, known, what);
        assertAddsUp(await linesBehind(merchantId, account, moment, 4), known, what);
      }
    }
  });

  test('are none before the first one, and none of another merchant', async () => {
    const { merchantId, steps } = await history('another', 10);
    const [first] = steps;
    assert.ok(first);
    const at = new Date(first.at.getTime() - 1);
    const query = { merchantId, account: 'float:wave', currency, at, before: null, rowsMax: 10 } as const;
    assert.deepEqual(await explainBalance(world.db, query), { balanceMinor: 0n, lines: [] });
    const stranger = { ...query, merchantId: await world.newMerchant(), at: null };
    assert.deepEqual(await explainBalance(world.db, stranger), { balanceMinor: 0n, lines: [] });
  });

  test('are the same whether or not the balance has been folded', async () => {
    const { merchantId } = await history('folded', 20);
    const query = { merchantId, account: 'payable_available', currency, at: null, before: null, rowsMax: 100 } as const;
    const before = await explainBalance(world.db, query);
    // Whoever spends folds.
    await world.post(merchantId, { debit: 'payable_available', credit: 'float:wave', amountMinor: 1n });
    const after = await explainBalance(world.db, query);
    assert.equal(after.balanceMinor, before.balanceMinor - 1n);
    assert.deepEqual(after.lines.slice(1), before.lines);
  });
});

describe('a page of the movements behind a balance', () => {
  const ids = "lpad(to_hex(n), 8, '0') || '-4b37-7417-9fed-11d78420f700'";
  const plansFor = (merchantId: string, account: Account): Promise<string[]> => {
    const query = { merchantId, account, currency, at: null, before: null, rowsMax: 51 };
    return genericPlans(world.database, (requested) => explainBalance(requested, query));
  };

  before(async () => {
    // Two merchants with 50,000 movements each, of which none waits for its settlement.
    for (const merchantId of [await world.newMerchant(), await world.newMerchant()]) {
      const text = `INSERT INTO ledger_movements (merchant_id, id, debit_account, credit_account, amount, currency, flow,
                      source_type, source_id, created_at)
                    SELECT $1, (${ids})::uuid, 'float:wave', CASE WHEN n % 5 = 0 THEN 'fees' ELSE 'payable_available' END,
                           1, 'GMD', 'collected', 'charge', (${ids})::uuid, $2
                    FROM generate_series(1, 50000) AS n`;
      await world.asOwner(text, [merchantId, world.clock.now()]);
    }
    await world.asOwner('ANALYZE ledger_movements');
  });

  test('walks the movements from the newest where nearly all touch the account, without sorting', async () => {
    const [plan = ''] = await plansFor(await world.newMerchant(), 'payable_available');
    assert.match(plan, /Index Scan Backward using ledger_movements_pkey/);
    assert.doesNotMatch(plan, /Seq Scan on ledger_movements|Bitmap/, plan);
  });

  test('of all debts reads the debts and their movements only', async () => {
    const [plan = ''] = await genericPlans(world.database, (db) =>
      listOwedAccounts(db, ['receivable_merchant', 'sub_owed']),
    );
    for (const index of ['receivable_debit', 'sub_owed_debit']) {
      assert.match(plan, new RegExp(`Index Scan (Backward )?using ledger_movements_${index}_idx`), plan);
    }
    assert.doesNotMatch(plan, /Seq Scan on ledger_movements|ledger_movements_pkey/, plan);
  });

  test('of pending or owed money reads that account’s movements only', async () => {
    for (const [account, index] of [
      ['payable_pending', 'pending'],
      ['receivable_merchant', 'receivable'],
      [sub, 'sub'],
    ] as const) {
      const [plan = ''] = await plansFor(await world.newMerchant(), account);
      for (const side of ['debit', 'credit']) {
        assert.match(plan, new RegExp(`Index Scan (Backward )?using ledger_movements_${index}_${side}_idx`), plan);
      }
      assert.doesNotMatch(plan, /Seq Scan on ledger_movements|ledger_movements_pkey/, plan);
    }
  });
});

describe('a statement', () => {
  test('has the movements between two times, with the balances of both accounts together', async () => {
    const { merchantId, steps } = await history('statement', 80);
    const total = (step: Step | undefined): bigint =>
      (step?.balances.get(sub) ?? 0n) + (step?.balances.get(pending) ?? 0n);
    const moments = [...new Set(steps.map(({ at }) => at.getTime()))].map((ms) => new Date(ms));
    for (const from of [null, moments[2], moments[5], moments.at(-1)]) {
      for (const to of [null, moments[5], moments[9]]) {
        assert.ok(from !== undefined && to !== undefined);
        const query = { merchantId, currency, accounts: [sub, pending] as const, from, to, after: null };
        const whole = await readStatement(world.db, { ...query, rowsMax: 1_000 });
        const opening = from === null ? 0n : total(steps.findLast(({ at }) => at < from));
        const closing = total(steps.findLast(({ at }) => to === null || at <= to));
        if (from !== null && to !== null && from > to) continue;
        assert.deepEqual([whole.openingMinor, whole.closingMinor], [opening, closing]);
        let balance = opening;
        for (const line of whole.lines) {
          balance += line.changeMinor;
          assert.equal(line.balanceMinor, balance);
          assert.ok((from === null || line.at >= from) && (to === null || line.at <= to));
        }
        assert.equal(balance, closing, 'the last line leaves the closing balance');
        const paged: BalanceLine[] = [];
        for (;;) {
          const after: string | null = paged.at(-1)?.id ?? null;
          const page = await readStatement(world.db, { ...query, after, rowsMax: 3 });
          assert.deepEqual(
            [page.openingMinor, page.closingMinor],
            [opening, closing],
            'of the whole time on each page',
          );
          if (page.lines.length === 0) break;
          paged.push(...page.lines);
        }
        assert.deepEqual(paged, whole.lines);
      }
    }
  });
});
