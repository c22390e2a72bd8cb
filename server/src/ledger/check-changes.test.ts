import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { firstIdAt } from '../kit/ids.ts';
import type { Log } from '../kit/log.ts';
import { checkLedgers, summarizeChecks, type CheckContext } from './check-changes.ts';
import { createLedgerWorld, type LedgerWorld } from './ledger-world.corpus.ts';
import { lockBalance } from './post.ts';
import { listVerifications } from './verifications.ts';

let world: LedgerWorld;
let merchantId: string;
let context: CheckContext;
const logged: string[] = [];
const minuteMs = 60_000;

before(async () => {
  world = await createLedgerWorld();
  const note = (text: string, error?: unknown) => void logged.push(`${text} ${String(error)}`);
  const log: Log = { debug: note, info: note, warn: note, error: note };
  context = { db: world.db, clock: world.clock, newId: world.newId, log };
});
after(() => world.close());

const tables = ['movements', 'deltas', 'accounts', 'holds', 'checks', 'checkpoints', 'verifications'];

beforeEach(async () => {
  await world.asOwner(`TRUNCATE ${tables.map((name) => `ledger_${name}`).join(', ')}`);
  merchantId = await world.newMerchant();
  await world.asOwner('TRUNCATE ledger_movements, ledger_deltas');
  logged.length = 0;
});

const collect = (amountMinor: bigint): Promise<void> =>
  world.post(
    merchantId,
    { debit: 'float:rail', credit: 'fees', amountMinor: 2n },
    { debit: 'float:rail', credit: 'payable_available', amountMinor },
  );

/** Five minutes later. */
async function check(): Promise<string[]> {
  await world.clock.advance(5 * minuteMs);
  logged.length = 0;
  await checkLedgers(context);
  return [...logged];
}

const wrong = async (): Promise<number> => Number((await summarizeChecks(world.db)).wrong);
const throughId = async (): Promise<string | undefined> =>
  (
    await world.db.row<{ id: string }>({
      ...{ name: 'test_through', values: [merchantId] },
      text: 'SELECT through_id AS id FROM ledger_checks WHERE merchant_id = $1',
    })
  )?.id;

/** Enough that the next check moves the checkpoint. */
async function collectMany(): Promise<void> {
  for (let posting = 0; posting < 5; posting += 1) {
    const movements = Array.from({ length: 100 }, (_, index) => ({
      ...({ debit: 'float:rail', credit: 'payable_available' } as const),
      amountMinor: BigInt(index + 100),
    }));
    await world.post(merchantId, ...movements);
  }
}

test('a right ledger is checked every five minutes, and its checkpoint follows', async () => {
  await collect(100n);
  assert.deepEqual(await check(), []);
  const first = await throughId();
  await collectMany();
  assert.deepEqual(await check(), []);
  const second = await throughId();
  assert.ok(first !== undefined && second !== undefined && second > first);
  await collect(100n);
  assert.deepEqual(await check(), []);
  assert.equal(await throughId(), second, 'a few are read each time');
  const { oldest } = await summarizeChecks(world.db);
  assert.ok(oldest && oldest.getTime() > world.clock.now().getTime() - minuteMs);
});

test('of two processes one checks a merchant, and none twice within five minutes', async () => {
  await collect(100n);
  await world.clock.advance(5 * minuteMs);
  const counts = await Promise.all([checkLedgers(context), checkLedgers(context)]);
  const merchants = await world.db.rows({ name: 'test_merchants', text: 'SELECT FROM merchants', values: [] });
  assert.equal(counts[0] + counts[1], merchants.length, String(counts));
  assert.equal(await checkLedgers(context), 0);
  assert.deepEqual(logged, []);
});

const corruptions: [what: string, text: string, finding: RegExp][] = [
  [
    'a balance',
    `UPDATE ledger_accounts SET balance = balance + 1 WHERE account = 'payable_available'`,
    /payable_available/,
  ],
  ['a new movement', 'UPDATE ledger_movements SET amount = amount + 1 WHERE amount = 77', /float:rail/],
  ['an old movement’s account', `DELETE FROM ledger_accounts WHERE account = 'float:rail'`, /float:rail/],
  ['a lost delta', `DELETE FROM ledger_deltas WHERE amount = 77`, /float:rail|payable_available/],
];

for (const [what, text, finding] of corruptions) {
  test(`a fault is found within five minutes and logged, shown and counted: ${what}`, async () => {
    await collectMany();
    await check();
    for (const account of ['float:rail', 'payable_available'] as const) {
      await world.db.withTransaction((tx) => lockBalance(tx, { merchantId, account, currency: 'GMD' }));
    }
    await collect(77n);
    assert.deepEqual(await check(), [], 'folding changes nothing');
    await world.asOwner(text);
    const [line = ''] = await check();
    assert.match(line, /the ledger is WRONG/);
    assert.match(line, finding);
    assert.equal(await wrong(), 1);
    await check();
    const [verification, ...others] = await listVerifications(world.db, 10);
    assert.equal(verification?.isCorrect, false);
    assert.deepEqual(others, [], 'once for each problem');
  });
}

test('held money without an open hold is found', async () => {
  await collect(1_000n);
  await world.post(merchantId, { debit: 'payable_available', credit: 'held', amountMinor: 10n });
  const [line = ''] = await check();
  assert.match(line, /account held: the balance says 0\.10, the open holds say 0\.00/);
});

test('a movement that commits behind the checkpoint, or a checkpoint that was changed, is no fault', async () => {
  await collectMany();
  await check();
  const lateId = firstIdAt(new Date(world.clock.now().getTime() - 30 * minuteMs));
  const key = [merchantId, lateId];
  await world.asOwner(
    `INSERT INTO ledger_movements SELECT merchant_id, $2, 'float:rail', 'fees', 5, currency, flow, source_type, source_id,
       created_at FROM ledger_movements WHERE merchant_id = $1 LIMIT 1`,
    key,
  );
  for (const account of ['float:rail', 'fees']) {
    await world.asOwner(`INSERT INTO ledger_deltas VALUES ($1, $3, 'GMD', $2, 5)`, [
      merchantId,
      world.newId(),
      account,
    ]);
  }
  assert.deepEqual(await check(), []);
  await world.asOwner('UPDATE ledger_checkpoints SET moved = moved + 1');
  assert.deepEqual(await check(), []);
  assert.equal(await wrong(), 0);
});

test('a ledger that was put right is right at the next check', async () => {
  await collect(100n);
  await world.asOwner(`UPDATE ledger_deltas SET amount = 99 WHERE amount = 100`);
  assert.equal((await check()).length, 1);
  await world.asOwner(`UPDATE ledger_deltas SET amount = 100 WHERE amount = 99`);
  assert.deepEqual(await check(), []);
  assert.equal(await wrong(), 0);
});
