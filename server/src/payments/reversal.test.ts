import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { listCases } from '../cases/list-cases.ts';
import { post } from '../ledger/post.ts';
import { applyResponse } from './apply-response.ts';
import type { Charge } from './charge.ts';
import { createPaymentWorld, refused, reversed, succeeded, type PaymentWorld } from './payment-world.corpus.ts';

let world: PaymentWorld;

before(async () => {
  world = await createPaymentWorld();
  await world.openConnections();
});

afterEach(() => world.verify());

after(() => world.close());

/** Leaves the merchant with this much to spend, as if the rest had been paid out. */
async function leaveBalance(amountMinor: bigint): Promise<void> {
  const { db, clock } = world.context;
  const tooMuch = (await world.balance('payable_available')) - amountMinor;
  await db.withTransaction((tx) =>
    post(tx, world.context, {
      merchantId: world.merchant.id,
      currency: 'GMD',
      flow: 'test',
      source: { type: 'test', id: world.context.newId() },
      movements: [{ debit: 'payable_available', credit: 'test_funding', amountMinor: tooMuch }],
      at: clock.now(),
    }),
  );
}

async function caseSummary(charge: Charge): Promise<string | undefined> {
  const cases = await listCases(world.db, 'open', 1_000, null);
  return cases.find(({ subjectId, kind }) => subjectId === charge.id && kind.endsWith('_reversal'))?.summary;
}

const collected = 'collected float:rail-wave → payable_available 10000';

test('a reversed payment leaves the merchant’s balance, with an event and a case', async () => {
  const { intent, charge } = await world.createSent();
  const before = await world.balance('payable_available');
  await applyResponse(world.context, charge, succeeded(charge));
  for (let time = 0; time < 3; time += 1) await applyResponse(world.context, charge, reversed(charge));
  assert.equal((await world.charge(charge)).status, 'reversed');
  assert.equal((await world.intent(intent)).status, 'successful', 'it was paid; the charge shows the reversal');
  assert.deepEqual(await world.movements(charge), [collected, 'reversed payable_available → float:rail-wave 10000']);
  assert.deepEqual(await world.events(charge), ['charge.created', 'charge.succeeded', 'charge.reversed']);
  assert.deepEqual(await world.cases(charge), ['network_reversal']);
  assert.equal(await caseSummary(charge), 'wave reversed GMD 100.00 after it had been paid.');
  assert.equal(await world.balance('payable_available'), before);
});

test('a reversal of money that the merchant has spent leaves a debt and a balance of zero', async () => {
  const { charge } = await world.createSent();
  await applyResponse(world.context, charge, succeeded(charge));
  await leaveBalance(3_000n);
  const debt = await world.balance('receivable_merchant');
  await applyResponse(world.context, charge, reversed(charge));
  assert.equal(await world.balance('payable_available'), 0n);
  assert.equal((await world.balance('receivable_merchant')) - debt, 7_000n);
  assert.deepEqual(await world.movements(charge), [
    collected,
    'reversed payable_available → float:rail-wave 3000',
    'reversed receivable_merchant → float:rail-wave 7000',
  ]);
  assert.match((await caseSummary(charge)) ?? '', /short by GMD 70\.00/);
  const next = await world.createSent();
  await applyResponse(world.context, next.charge, succeeded(next.charge));
  assert.equal(await world.balance('receivable_merchant'), debt, 'the next payment repays it');
});

test('a reversal includes the fee', async () => {
  const owner = await world.setFee({ percentHundredths: 200n });
  await world.clock.advance(3_000);
  const { charge } = await world.create({}, owner);
  await applyResponse(world.context, charge, succeeded(charge));
  await applyResponse(world.context, charge, reversed(charge));
  await world.setFee({ percentHundredths: 0n });
  assert.deepEqual(await world.movements(charge), [
    'collected float:rail-wave → fees 200',
    'collected float:rail-wave → payable_available 9800',
    'reversed fees → float:rail-wave 200',
    'reversed payable_available → float:rail-wave 9800',
  ]);
});

test('a reversal reported before its success books both, and the success then changes nothing', async () => {
  const { intent, charge } = await world.createSent();
  await applyResponse(world.context, charge, reversed(charge));
  await applyResponse(world.context, charge, succeeded(charge));
  await applyResponse(world.context, charge, refused);
  assert.equal((await world.charge(charge)).status, 'reversed');
  assert.equal((await world.intent(intent)).status, 'successful');
  assert.deepEqual(await world.events(charge), ['charge.created', 'charge.succeeded', 'charge.reversed']);
  assert.deepEqual(await world.movements(charge), [collected, 'reversed payable_available → float:rail-wave 10000']);
});

test('a concurrent success and reversal are each booked once', async () => {
  const { charge } = await world.createSent();
  await Promise.all(
    [succeeded(charge), reversed(charge), reversed(charge), succeeded(charge)].map((response) =>
      applyResponse(world.context, charge, response),
    ),
  );
  assert.equal((await world.charge(charge)).status, 'reversed');
  assert.equal((await world.movements(charge)).length, 2);
});

test('a reversal that fails halfway books nothing and is looked up again', async () => {
  const { charge } = await world.createSent();
  world.networks.wave.responses.look_up = reversed(charge);
  await world.clock.advance(5_000);
  const [work] = await world.claim();
  assert.ok(work);
  await world.asOwner(`ALTER TABLE cases ADD CONSTRAINT broken CHECK (kind <> 'network_reversal') NOT VALID`);
  await assert.rejects(world.jobs.lookUp(work), /broken/);
  await world.asOwner('ALTER TABLE cases DROP CONSTRAINT broken');
  assert.equal((await world.charge(charge)).status, 'pending');
  assert.deepEqual(await world.movements(charge), []);
  await world.clock.advance(60_000);
  await world.work();
  assert.equal((await world.charge(charge)).status, 'reversed');
});

test('a reversal of money in suspense is noted on its case and not booked', async () => {
  const { charge } = await world.createSent();
  const other = { amountMinor: 12_000n };
  await applyResponse(world.context, charge, succeeded(charge, other));
  for (let time = 0; time < 2; time += 1) await applyResponse(world.context, charge, reversed(charge, other));
  assert.deepEqual(await world.cases(charge), ['amount_mismatch', 'network_reversal']);
  assert.equal(
    await caseSummary(charge),
    'wave reversed GMD 120.00 after it had been paid. It is in suspense: there is nothing left to return.',
  );
  assert.deepEqual(await world.movements(charge), ['suspense float:rail-wave → suspense 12000']);
  assert.equal((await world.charge(charge)).status, 'pending');
});

test('a reversal of an unknown transaction books nothing, however often it is reported', async () => {
  const { intent, charge } = await world.createSent();
  await applyResponse(world.context, charge, succeeded(charge, { amountMinor: 9_900n }));
  const other = reversed(charge, { transactionId: 'never-heard-of' });
  for (let time = 0; time < 3; time += 1) await applyResponse(world.context, await world.charge(charge), other);
  assert.equal((await world.charge(charge)).status, 'pending');
  assert.equal((await world.intent(intent)).status, 'processing');
  assert.deepEqual(await world.cases(charge), ['amount_mismatch', 'network_reversal']);
  await world.verify();
});

test('a reversal of a transaction that paid something else books nothing', async () => {
  const [one, other] = [await world.createSent(), await world.createSent()];
  const transactionId = 'T-of-the-first';
  await applyResponse(world.context, one.charge, succeeded(one.charge, { transactionId }));
  await applyResponse(world.context, other.charge, reversed(other.charge, { transactionId }));
  assert.equal((await world.charge(one.charge)).status, 'completed');
  assert.deepEqual(await world.movements(other.charge), []);
  assert.deepEqual(await world.cases(other.charge), ['receipt_reused']);
});

for (const [name, providerTransaction] of [
  ['less than', { amountMinor: 4_000n }],
  ['more than', { amountMinor: 10_100n }],
  ['another currency than', { currency: 'XOF' }],
] as const) {
  test(`a reversal of ${name} the amount received opens a case and books nothing`, async () => {
    const { charge } = await world.createSent();
    await applyResponse(world.context, charge, succeeded(charge));
    for (let time = 0; time < 2; time += 1)
      await applyResponse(world.context, charge, reversed(charge, providerTransaction));
    assert.equal((await world.charge(charge)).status, 'completed');
    assert.deepEqual(await world.movements(charge), [collected]);
    assert.deepEqual(await world.cases(charge), ['partial_reversal']);
    assert.match((await caseSummary(charge)) ?? '', / That is not the amount it had collected: nothing was booked\.$/);
  });
}

test('money that arrives after its partial reversal goes to suspense; after a full one it does not', async () => {
  const { charge } = await world.createSent();
  await applyResponse(world.context, charge, succeeded(charge));
  for (const [transactionId, amountMinor] of [
    ['partly-back', 4_000n],
    ['wholly-back', 10_000n],
  ] as const) {
    await applyResponse(world.context, charge, reversed(charge, { transactionId, amountMinor }));
    for (let time = 0; time < 2; time += 1) {
      await applyResponse(world.context, charge, succeeded(charge, { transactionId }));
    }
  }
  assert.deepEqual(await world.movements(charge), [collected, 'suspense float:rail-wave → suspense 10000']);
  assert.deepEqual(await world.cases(charge), ['network_reversal', 'partial_reversal', 'second_success']);
});

test('a success already reversed, on a charge that holds other money, is not booked', async () => {
  const { intent, charge } = await world.createSent();
  const other = { transactionId: 'another-amount', amountMinor: 9_000n };
  await applyResponse(world.context, charge, succeeded(charge, other));
  for (const response of [reversed(charge), succeeded(charge), reversed(charge), succeeded(charge)]) {
    await applyResponse(world.context, charge, response);
  }
  assert.deepEqual(await world.movements(charge), ['suspense float:rail-wave → suspense 9000']);
  assert.deepEqual(await world.cases(charge), ['amount_mismatch', 'network_reversal']);
  assert.equal((await world.intent(intent)).status, 'processing');
});
