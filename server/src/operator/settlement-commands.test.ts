import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { contextOfCommand } from '../../../test/harness/operate.ts';
import type { MoneyContext } from '../app/contexts.ts';
import { PublicError } from '../kit/public-error.ts';
import { readInput, UsageError } from '../kit/command-line.ts';
import { createSettlementWorld, today, type SettlementWorld } from '../settlement/settlement-world.corpus.ts';
import type { CommandResult } from './command.ts';
import { ledgerCommands } from './ledger-commands.ts';
import { createProgress } from './progress.ts';
import { settlementCommands } from './settlement-commands.ts';

let world: SettlementWorld;
let shown: string[];
let showProgress: (text: string) => unknown = (text) => shown.push(text);

before(async () => {
  world = await createSettlementWorld();
});
after(async () => {
  await world.verify();
  await world.close();
});

/** Runs what was typed, as operator/main.ts reads it; `MERCHANT` stands for the merchant's id. */
function run(words: string): Promise<CommandResult> {
  const [subject, verb, ...args] = words.replaceAll('MERCHANT', world.merchant.id).split(' ');
  const command = [...settlementCommands, ...ledgerCommands].find(({ name }) => name === `${subject} ${verb}`);
  assert.ok(command, words);
  shown = [];
  const { db, clock } = world;
  const progressTo = { write: (text: string) => showProgress(text) };
  // These commands use nothing else of their context.
  const moneyWork = () => Promise.resolve(world.context as MoneyContext);
  return command.run(contextOfCommand({ db, clock, progressTo, moneyWork }), readInput('operator', command, args));
}

async function refused(words: string): Promise<string> {
  const error = await run(words).catch((refusal: unknown) => refusal);
  assert.ok(error instanceof UsageError || error instanceof PublicError, String(error));
  return error.message;
}

describe('settlement run', () => {
  test('pays out what is due and prints the total; a second run pays nothing', async () => {
    for (let count = 0; count < 3; count += 1) await world.subAccount(2_000n);
    const first = await run('settlement run --merchant MERCHANT');
    assert.deepEqual(first.data, {
      merchant_id: world.merchant.id,
      period: today,
      payouts: 3,
      amount: 60,
      refused: 0,
      held: 0,
      failed: 0,
    });
    assert.equal(first.text, `Period ${today}: 3 payouts, D60.00 in total.`);
    assert.deepEqual(shown, ['3 of 3 sub-accounts\n']);
    const again = await run('settlement run --merchant MERCHANT');
    assert.equal((again.data as { payouts: number }).payouts, 0);
  });

  test('interrupted after payouts, has left an entry of who began it and for which period', async () => {
    const subAccount = await world.subAccount(2_000n);
    showProgress = () => {
      throw new Error('the machine is switched off');
    };
    await assert.rejects(run('settlement run --merchant MERCHANT'), /switched off/);
    showProgress = (text) => shown.push(text);
    assert.deepEqual(await world.periodsOf(subAccount), [`${today} paid`]);
    const newest = await world.db.row<{ action: string; changes: string }>({
      name: 'test_newest_entry',
      text: 'SELECT action, changes::text FROM audit_entries ORDER BY id DESC LIMIT 1',
      values: [],
    });
    assert.equal(newest?.action, 'settlement.run');
    assert.match(newest.changes, new RegExp(today));
  });

  test('accepts any past day, and for weekly payouts its week', async () => {
    const subAccount = await world.subAccount(2_000n);
    assert.match(await refused('settlement run --merchant MERCHANT --period 2026-11-21'), /has not begun/);
    assert.match(
      await refused('settlement run --merchant MERCHANT --period 2025-10-15'),
      /before 2025-10-16 are deleted/,
    );
    for (const period of ['yesterday', '2026-02-30', '2026-11', '2026-11-20T00:00']) {
      assert.match(await refused(`settlement run --merchant MERCHANT --period ${period}`), /is a day such as/);
    }
    await run('settlement schedule weekly --merchant MERCHANT');
    await run('settlement run --merchant MERCHANT --period 2026-11-19');
    assert.deepEqual(await world.periodsOf(subAccount), ['2026-11-16 paid']);
    await run('settlement schedule manual --merchant MERCHANT');
  });

  test('refuses an unknown merchant by name', async () => {
    assert.match(await refused('settlement run --merchant nobody'), /There is no merchant nobody/);
  });
});

describe('settlement schedule', () => {
  test('accepts manual, daily and weekly only', async () => {
    for (const chosen of ['daily', 'weekly', 'manual']) {
      const { data } = await run(`settlement schedule ${chosen} --merchant MERCHANT`);
      assert.deepEqual(data, { merchant_id: world.merchant.id, schedule: chosen });
    }
    assert.match(await refused('settlement schedule hourly --merchant MERCHANT'), /manual, daily, weekly, not hourly/);
  });
});

describe('ledger explain', () => {
  test('lists the movements behind any account’s balance, at any moment', async () => {
    const subAccount = await world.subAccount(2_000n);
    const before = world.clock.now().toISOString();
    await world.clock.advance(60_000);
    const payout = await world.orderPayout(subAccount, 1_500n);
    const account = `sub:${subAccount.id}`;
    const now = await run(`ledger explain --merchant MERCHANT --account ${account}`);
    assert.match(now.text, new RegExp(`^${account} of Kairaba Books .* has GMD 5\\.00 now\\.\nTIME +FLOW`));
    assert.match(now.text, new RegExp(`held +transfer ${payout.id} +-15\\.00 +5\\.00`));
    const then = await run(`ledger explain --merchant MERCHANT --account ${account} --at ${before}`);
    assert.match(then.text, /has GMD 20\.00 at 2026-11-20T/);
    const day = before.slice(0, 10);
    const whole = await run(`ledger explain --merchant MERCHANT --account ${account} --at ${day}`);
    assert.ok(whole.text.includes(`has GMD 5.00 at ${day}T23:59:59.999Z`), 'a date alone means the end of that day');
    const first = await run('ledger explain --merchant MERCHANT --account float:rail-wave --limit 1');
    const older = / --before ([0-9a-f-]{36})$/.exec(first.text)?.[1];
    const second = await run(
      `ledger explain --merchant MERCHANT --account float:rail-wave --limit 1 --before ${older}`,
    );
    interface Explained {
      balance: number;
      movements: { amount: number; balance: number }[];
    }
    const [one, other] = [first.data as Explained, second.data as Explained];
    assert.equal(one.balance, other.balance, 'on every page that of the moment');
    assert.equal(one.movements[0]?.balance, one.balance);
    assert.equal(other.movements[0]?.balance, one.balance - (one.movements[0]?.amount ?? 0));
  });

  test('an account without movements says so, because a mistyped name looks like an empty account', async () => {
    const mistyped = await run('ledger explain --merchant MERCHANT --account float:rail-wvae');
    assert.match(mistyped.text, /has GMD 0\.00 now\.\nNo movements\./);
  });

  test('a balance by its name in the API is the account of the ledger behind it', async () => {
    for (const [name, account] of [
      ['payout_balance', 'payable_available'],
      ['available_balance', 'payable_pending'],
      ['owed_balance', 'receivable_merchant'],
    ]) {
      const { data, text } = await run(`ledger explain --merchant MERCHANT --account ${name}`);
      assert.equal((data as { account: string }).account, account);
      assert.match(text, new RegExp(`^${account} of `));
    }
  });

  test('a malformed account, time, limit or id is refused with what is allowed', async () => {
    const explain = 'ledger explain --merchant MERCHANT';
    assert.match(await refused(`${explain} --account purse`), /There is no kind of account purse/);
    for (const at of ['noon', '2026-11-20T10:00:00', '2026-13-01', '2026-02-30', '2026-02-30T10:00:00Z']) {
      assert.match(await refused(`${explain} --account held --at ${at}`), /--at is a time such as/);
    }
    for (const limit of ['0', '1001', 'many']) {
      assert.match(await refused(`${explain} --account held --limit ${limit}`), /--limit is a whole number/);
    }
    assert.match(await refused(`${explain} --account held --before x`), /--before is the id/);
  });
});

describe('progress', () => {
  const written = (
    stream: { isTTY?: boolean; columns?: number },
    steps: readonly number[],
    total: number,
  ): string[] => {
    const texts: string[] = [];
    const progress = createProgress({ ...stream, write: (text) => texts.push(text) }, { total, what: 'sub-accounts' });
    for (const step of steps) progress.show(step);
    progress.end();
    return texts;
  };

  /** What stands on the line, which is drawn over the one before. */
  const drawn = (text = ''): string => {
    const begin = '\r\u001b[K';
    assert.ok(text.startsWith(begin));
    return text.slice(begin.length);
  };

  test('is a bar on a terminal, redrawn in place and never wider than the terminal', () => {
    const texts = written({ isTTY: true, columns: 60 }, [0, 500, 1_000], 1_000);
    assert.equal(texts.length, 4);
    assert.match(drawn(texts[1]), /^█+░+ {2}50 % {2}500 of 1,000 sub-accounts$/);
    assert.match(drawn(texts[2]), /^█+ 100 % {2}1,000 of 1,000 sub-accounts$/);
    for (const text of texts.slice(0, -1)) assert.ok(drawn(text).length < 60, text);
    assert.equal(texts.at(-1), '\n');
  });

  test('is a line for every 10 % elsewhere, without control characters', () => {
    const steps = Array.from({ length: 1_001 }, (_, step) => step);
    const texts = written({}, steps, 1_000);
    assert.equal(texts.length, 10);
    assert.equal(texts[4], '500 of 1,000 sub-accounts\n');
    for (const text of texts) assert.ok(!text.includes('\r') && !text.includes('\u001b'), text);
  });

  test('of no work prints nothing', () => {
    assert.deepEqual(written({}, [], 0), []);
  });
});
