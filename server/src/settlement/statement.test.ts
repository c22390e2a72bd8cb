import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../api/app-error.ts';
import type { Charge } from '../payments/charge.ts';
import { createRefundWorld, paidBack, refused, splitWith, type RefundWorld } from '../refunds/refund-world.corpus.ts';
import { createPayout } from './create-payout.ts';
import { readSubAccountStatement, statementAsCsv, type Statement } from './statement.ts';

const minuteMs = 60_000;

let world: RefundWorld;

before(async () => {
  world = await createRefundWorld();
});
after(() => world.close());

const everything = { after: null, rowsMax: 10_000 };
const always = { from: null, to: null };

function statementOf(subAccountId: string, times: { from: Date | null; to: Date | null } = always): Promise<Statement> {
  return readSubAccountStatement(world.db, world.merchant, { subAccountId, ...times }, everything);
}

function payWith(subAccountId: string, title: string | null = null): Promise<Charge> {
  const { collect } = world;
  return collect({ title, split: splitWith({ subAccountId }) });
}

async function payOut(subAccountId: string, amountMinor: bigint | null, isPaid: boolean): Promise<string> {
  const payout = await world.db.withTransaction((tx) =>
    createPayout(tx, world.context, world.merchant, { subAccountId, amountMinor }),
  );
  await world.work();
  await world.report(payout, isPaid ? paidBack(payout) : refused());
  return payout.id;
}

/** `share 2000 → 2000`, a line for each. */
function inWords({ lines }: Statement): string[] {
  return lines.map(({ kind, changeMinor, balanceMinor }) => `${kind} ${changeMinor} → ${balanceMinor}`);
}

describe('the statement of a sub-account', () => {
  test('lists shares, payouts, refunds and repayments, each with its balance and source', async () => {
    const id = await world.newSubAccount(20);
    const first = await payWith(id, 'Rent of November');
    const failed = await payOut(id, 1_000n, false);
    const payout = await payOut(id, null, true);
    const refund = await world.refundReported(first, paidBack, 5_000n);
    const second = await payWith(id);
    await world.refundReported(second, () => refused(), 1_000n);
    const statement = await statementOf(id);
    assert.deepEqual(inWords(statement), [
      'share 2000 → 2000',
      'payout -1000 → 1000',
      'payout_returned 1000 → 2000',
      'payout -2000 → 0',
      'share 2000 → 2000',
      // What the merchant advanced for the refund of the first payment.
      'repayment -1000 → 1000',
      'refund -200 → 800',
      'refund_returned 200 → 1000',
    ]);
    const about = statement.lines.map(({ source }) => [source.type, source.id]);
    assert.deepEqual(about.slice(0, 4), [
      ['charge', first.id],
      ['transfer', failed],
      ['transfer', failed],
      ['transfer', payout],
    ]);
    assert.equal(about[6]?.[0], 'refund');
    assert.notEqual(about[6]?.[1], refund.id);
    assert.deepEqual(statement.lines[0]?.source, {
      type: 'charge',
      id: first.id,
      reference: first.transactionReference,
      description: 'Rent of November',
      paymentId: first.intentId,
    });
    assert.deepEqual([statement.openingMinor, statement.closingMinor], [0n, await world.balance(`sub:${id}`)]);
  });

  test('has the lines between two times, both included, with opening and closing balance', async () => {
    const id = await world.newSubAccount(20);
    const times: Date[] = [];
    for (let count = 0; count < 3; count += 1) {
      await payWith(id);
      times.push(world.clock.now());
      await world.clock.advance(minuteMs);
    }
    const [, second = null] = times;
    const statement = await statementOf(id, { from: second, to: second });
    assert.deepEqual(inWords(statement), ['share 2000 → 4000']);
    assert.deepEqual([statement.openingMinor, statement.closingMinor], [2_000n, 4_000n]);
    const later = await statementOf(id, { from: world.clock.now(), to: null });
    assert.deepEqual([later.openingMinor, later.closingMinor, later.lines.length], [6_000n, 6_000n, 0]);
  });

  test('ends with the balance after any history', async () => {
    const step = fc.record({
      what: fc.constantFrom('pay', 'pay', 'pay', 'pay out', 'fail a payout', 'refund', 'fail a refund', 'wait'),
      which: fc.nat(20),
      amountMinor: fc.bigInt(100n, 4_000n),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps) => {
        const id = await world.newSubAccount(35);
        const charges: Charge[] = [];
        for (const { what, which, amountMinor } of steps) {
          await take(id, charges, { what, which, amountMinor }).catch((error: unknown) => {
            // Too little to pay out, nothing left to refund: what is refused leaves no line.
            assert.ok(error instanceof AppError, String(error));
          });
        }
        const statement = await statementOf(id);
        assert.equal(statement.closingMinor, await world.balance(`sub:${id}`));
        let balance = 0n;
        for (const line of statement.lines) {
          balance += line.changeMinor;
          assert.equal(line.balanceMinor, balance);
          assert.ok(balance >= 0n);
          assert.notEqual(line.kind, 'adjustment', 'every line has a name of its own');
        }
        assert.equal(balance, statement.closingMinor);
        await world.verify();
      }),
      { numRuns: 12 },
    );
  });

  async function take(
    id: string,
    charges: Charge[],
    { what, which, amountMinor }: { what: string; which: number; amountMinor: bigint },
  ): Promise<void> {
    const charge = charges[which % Math.max(1, charges.length)];
    if (what === 'wait') return world.clock.advance(which * minuteMs);
    if (what === 'pay') {
      charges.push(await payWith(id));
      return;
    }
    if (what === 'pay out' || what === 'fail a payout') {
      await payOut(id, what === 'pay out' ? null : 500n, what === 'pay out');
      return;
    }
    if (charge) await world.refundReported(charge, what === 'refund' ? paidBack : () => refused(), amountMinor);
  }
});

describe('a statement as CSV', () => {
  test('has the lines between the balances, safe to open in a spreadsheet', async () => {
    const id = await world.newSubAccount(20);
    const charge = await payWith(id, '=HYPERLINK("http://evil.example","Rent")');
    await payOut(id, null, true);
    const { name, text } = await statementAsCsv(world.db, world.merchant, { subAccountId: id, ...always });
    assert.equal(name, `statement-${id}.csv`);
    const lines = text.split('\r\n');
    assert.equal(lines[0], 'time,kind,amount,balance,currency,reference,description,type,id');
    assert.equal(lines[1], ',opening_balance,,0.00,GMD,,,,');
    const at = world.clock.now().toISOString();
    const title = `"'=HYPERLINK(""http://evil.example"",""Rent"")"`;
    assert.equal(lines[2], `${at},share,20.00,20.00,GMD,${charge.transactionReference},${title},charge,${charge.id}`);
    assert.match(lines[3] ?? '', /^[^,]+,payout,-20\.00,0\.00,GMD,\w+,,transfer,[0-9a-f-]{36}$/);
    assert.equal(lines[4], ',closing_balance,,0.00,GMD,,,,');
    assert.deepEqual(lines.slice(5), ['']);
  });

  test('above 10,000 lines is refused instead of cut off', async () => {
    const id = await world.newSubAccount(20);
    await world.asOwner(
      `INSERT INTO ledger_movements (merchant_id, id, debit_account, credit_account, amount, currency, flow, source_type,
         source_id, created_at)
       SELECT $1, gen_random_uuid(), 'float:rail-aps', $2, 1, 'GMD', 'collected', 'charge', gen_random_uuid(), $3
       FROM generate_series(1, 10001)`,
      [world.merchant.id, `sub:${id}`, world.clock.now()],
    );
    const tooLong = statementAsCsv(world.db, world.merchant, { subAccountId: id, ...always });
    await assert.rejects(tooLong, { code: 'invalid_request', message: /more than 10,000 lines/ });
    const first = await readSubAccountStatement(
      world.db,
      world.merchant,
      { subAccountId: id, ...always },
      { after: null, rowsMax: 11 },
    );
    assert.equal(first.lines.length, 11);
    assert.equal(first.closingMinor, 10_001n);
  });
});
