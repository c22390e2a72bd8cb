import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { createLedgerWorld, type LedgerWorld } from './ledger-world.corpus.ts';
import { lockBalance } from './post.ts';
import { verifyLedger, type LedgerFinding } from './verify.ts';

let world: LedgerWorld;
let merchantId: string;

before(async () => {
  world = await createLedgerWorld();
});

after(() => world.close());

const currency = 'GMD';

beforeEach(async () => {
  for (const table of ['ledger_movements', 'ledger_deltas', 'ledger_accounts', 'ledger_holds']) {
    await world.asOwner(`TRUNCATE ${table}`);
  }
  merchantId = await world.newMerchant();
  await world.asOwner('TRUNCATE ledger_movements, ledger_deltas');
  await world.post(
    merchantId,
    { debit: 'float:rail', credit: 'fees', amountMinor: 200n },
    { debit: 'float:rail', credit: 'payable_available', amountMinor: 9_800n },
    { debit: 'network_costs', credit: 'float:rail', amountMinor: 50n },
  );
  // Half of it folded, so that both places can be wrong.
  await world.db.withTransaction((tx) => lockBalance(tx, { merchantId, account: 'payable_available', currency }));
});

async function findingAfter(text: string, values: unknown[] = []): Promise<LedgerFinding> {
  await world.asOwner(text, values);
  const { finding } = await verifyLedger(world.db);
  assert.ok(finding, 'the corruption was not found');
  return finding;
}

const insertMovement = `INSERT INTO ledger_movements (merchant_id, id, debit_account, credit_account, amount, currency,
  flow, source_type, source_id, created_at) VALUES ($1, $2, $3, $4, $5, 'GMD', 'test', 'test', $2, '2026-11-20')`;
const insertDelta = `INSERT INTO ledger_deltas (merchant_id, account, currency, id, amount) VALUES ($1, $2, 'GMD', $3, $4)`;

test('a correct ledger has no finding; movements and accounts are counted', async () => {
  const { finding, movements, accounts } = await verifyLedger(world.db);
  assert.equal(finding, null);
  assert.equal(movements, 3n);
  assert.equal(accounts, 4n);
});

test('a stored balance that was changed is found, with both sums', async () => {
  const finding = await findingAfter(`UPDATE ledger_accounts SET balance = 9801 WHERE account = 'payable_available'`);
  assert.deepEqual(finding, {
    check: 'balance',
    merchantId,
    account: 'payable_available',
    currency,
    message: 'the balance says 98.01, the movements say 98.00',
  });
});

test('a delta that was lost is found', async () => {
  const finding = await findingAfter(`DELETE FROM ledger_deltas WHERE account = 'fees'`);
  assert.deepEqual([finding.check, finding.account], ['balance', 'fees']);
  assert.equal(finding.message, 'the balance says 0.00, the movements say 2.00');
});

test('a delta without a movement is found, also on an unknown account', async () => {
  const finding = await findingAfter(insertDelta, [merchantId, 'sub:nobody', world.newId(), 5n]);
  assert.deepEqual([finding.check, finding.account], ['balance', 'sub:nobody']);
});

test('a deleted movement is found', async () => {
  const finding = await findingAfter(`DELETE FROM ledger_movements WHERE credit_account = 'payable_available'`);
  assert.deepEqual([finding.check, finding.account], ['balance', 'float:rail']);
});

test('a movement whose amount was changed is found', async () => {
  const finding = await findingAfter(`UPDATE ledger_movements SET amount = amount + 1 WHERE credit_account = 'fees'`);
  assert.deepEqual([finding.check, finding.account], ['balance', 'fees']);
});

test('a deleted account is found', async () => {
  const finding = await findingAfter('DELETE FROM ledger_accounts');
  assert.deepEqual([finding.check, finding.account], ['balance', 'payable_available']);
});

test('a guarded account below zero is found even if its movements agree', async () => {
  const move = [merchantId, world.newId(), 'fees', 'float:rail', 201n];
  await world.asOwner(insertMovement, move);
  await world.asOwner(insertDelta, [merchantId, 'float:rail', world.newId(), -201n]);
  const finding = await findingAfter(insertDelta, [merchantId, 'fees', world.newId(), -201n]);
  assert.deepEqual([finding.check, finding.account], ['below_zero', 'fees']);
  assert.match(finding.message, /is -0\.01 and/);
});

test('an account of an unknown kind is found', async () => {
  await world.asOwner(insertMovement, [merchantId, world.newId(), 'bank', 'pocket:mine', 1n]);
  await world.asOwner(insertDelta, [merchantId, 'bank', world.newId(), 1n]);
  const finding = await findingAfter(insertDelta, [merchantId, 'pocket:mine', world.newId(), 1n]);
  assert.deepEqual([finding.check, finding.account], ['account_kind', 'pocket:mine']);
});

test('held money without an open hold is found', async () => {
  await world.post(merchantId, { debit: 'payable_available', credit: 'held', amountMinor: 100n });
  const { finding } = await verifyLedger(world.db);
  assert.deepEqual([finding?.check, finding?.account], ['held', 'held']);
  assert.equal(finding?.message, '1.00 is held, but the open holds sum to 0.00');
});

test('an open hold without its money is found, and a closed one does not count', async () => {
  const insertHold = `INSERT INTO ledger_holds (merchant_id, id, status, amount, currency, source_type, source_id, created_at)
                      VALUES ($1, $2, $3, 100, 'GMD', 'test', $2, '2026-11-20')`;
  await world.asOwner(insertHold, [merchantId, world.newId(), 'released']);
  assert.equal((await verifyLedger(world.db)).finding, null);
  const finding = await findingAfter(insertHold, [merchantId, world.newId(), 'open']);
  assert.deepEqual([finding.check, finding.account, finding.merchantId], ['held', 'held', merchantId]);
  assert.equal(finding.message, '0.00 is held, but the open holds sum to 1.00');
});

test('of several wrong rows the first is named: by merchant, then account', async () => {
  const later = await world.newMerchant();
  await world.post(later, { debit: 'float:rail', credit: 'fees', amountMinor: 1n });
  await world.asOwner(`UPDATE ledger_deltas SET amount = amount + 1 WHERE merchant_id = $1`, [later]);
  const first = await findingAfter(
    `UPDATE ledger_deltas SET amount = amount + 1 WHERE account IN ('network_costs', 'float:rail')`,
  );
  assert.deepEqual([first.merchantId, first.account], [merchantId, 'float:rail']);
});
