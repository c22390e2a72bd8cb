import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AssertionFailure } from '../kit/assert.ts';
import { canChargeBecome, type Charge, type ChargeStatus } from './charge.ts';
import { changeCharge, changeIntent, withLockedPayment } from './change-payment.ts';
import { canIntentBecome, isOpen, statusAt, totalMinor, type Intent, type IntentStatus } from './intent.ts';
import { createPaymentWorld, type PaymentWorld } from './payment-world.corpus.ts';
import { updateChargeOutcome } from './queries/charges.ts';
import { updateIntent } from './queries/intents.ts';

let world: PaymentWorld;
let intent: Intent;
let charge: Charge;

before(async () => {
  world = await createPaymentWorld();
  ({ intent, charge } = await world.create());
});

after(() => world.close());

// Every pair that is not named here is refused. Written down a second time on purpose: a slip in the table of the code
// must not pass because the test reads the same table.
const intentMoves: Record<IntentStatus, IntentStatus[]> = {
  requires_payment_method: ['processing', 'successful', 'cancelled', 'expired'],
  processing: ['requires_payment_method', 'successful', 'failed', 'cancelled', 'expired'],
  successful: [],
  failed: ['successful'],
  cancelled: ['successful'],
  expired: ['successful'],
};
const chargeMoves: Record<ChargeStatus, ChargeStatus[]> = {
  pending: ['completed', 'failed', 'cancelled'],
  completed: ['refunded', 'reversed'],
  failed: ['completed'],
  cancelled: ['completed'],
  refunded: ['completed', 'reversed'],
  reversed: [],
};
const intentStatuses = Object.keys(intentMoves) as IntentStatus[];
const chargeStatuses = Object.keys(chargeMoves) as ChargeStatus[];

test('an intent allows the moves of its table and no others', async () => {
  for (const from of intentStatuses) {
    for (const to of intentStatuses.filter((status) => status !== from)) {
      await world.asOwner('UPDATE payment_intents SET status = $1', [from]);
      const locked = await world.intent(intent);
      const move = world.db.withTransaction((tx) =>
        changeIntent(tx, world.context, { merchant: world.merchant, intent: locked }, { status: to }, null),
      );
      const isAllowed = intentMoves[from].includes(to);
      assert.equal(canIntentBecome(from, to), isAllowed, `${from} → ${to}`);
      if (isAllowed) await move;
      else await assert.rejects(move, AssertionFailure, `${from} → ${to}`);
      assert.equal((await world.intent(intent)).status, isAllowed ? to : from);
    }
  }
});

test('a charge allows the moves of its table and no others', async () => {
  for (const from of chargeStatuses) {
    for (const to of chargeStatuses.filter((status) => status !== from)) {
      await world.asOwner('UPDATE charges SET status = $1', [from]);
      const move = withLockedPayment(world.context, charge, (tx, locked) =>
        changeCharge(tx, world.context, locked, { status: to }, null),
      );
      const isAllowed = chargeMoves[from].includes(to);
      assert.equal(canChargeBecome(from, to), isAllowed, `${from} → ${to}`);
      if (isAllowed) await move;
      else await assert.rejects(move, AssertionFailure, `${from} → ${to}`);
      assert.equal((await world.charge(charge)).status, isAllowed ? to : from);
    }
  }
});

test('an update from an outdated status changes no row', async () => {
  await world.asOwner(`UPDATE payment_intents SET status = 'successful'`);
  await world.asOwner(`UPDATE charges SET status = 'completed'`);
  const staleIntent: Intent = { ...(await world.intent(intent)), status: 'cancelled' };
  const staleCharge: Charge = { ...(await world.charge(charge)), status: 'failed' };
  assert.equal(await updateIntent(world.db, 'processing', staleIntent), 0);
  assert.equal(await updateChargeOutcome(world.db, 'pending', staleCharge), 0);
  assert.equal((await world.intent(intent)).status, 'successful');
  assert.equal((await world.charge(charge)).status, 'completed');
  const stale: Intent = { ...intent, status: 'processing' };
  await assert.rejects(
    world.db.withTransaction((tx) =>
      changeIntent(tx, world.context, { merchant: world.merchant, intent: stale }, { status: 'failed' }, null),
    ),
    AssertionFailure,
  );
});

test('the constraints of the database allow the same states', async () => {
  await assert.rejects(world.asOwner(`UPDATE payment_intents SET status = 'paid'`), /payment_intents_status_check/);
  await assert.rejects(world.asOwner(`UPDATE charges SET status = 'paid'`), /charges_status_check/);
  await assert.rejects(world.asOwner(`UPDATE charges SET progress = 'paid'`), /charges_progress_check/);
  await assert.rejects(world.asOwner('UPDATE charges SET amount_paid = amount + 1'), /charges_amount_paid_check/);
});

test('an open intent is expired from its stored time on, unless it is under review', () => {
  const expiresAt = new Date('2026-11-20T12:30:00.000Z');
  const before = new Date(expiresAt.getTime() - 1);
  for (const status of intentStatuses) {
    assert.equal(statusAt({ status, expiresAt, review: null }, before), status);
    assert.equal(statusAt({ status, expiresAt, review: null }, expiresAt), isOpen(status) ? 'expired' : status);
    assert.equal(statusAt({ status, expiresAt, review: 'amount_mismatch' }, expiresAt), status);
  }
});

test('the payer pays the amount, and the fee on top only if the customer bears it', () => {
  assert.equal(totalMinor({ amountMinor: 10_000n, feeMinor: 150n, feePayer: 'business' }), 10_000n);
  assert.equal(totalMinor({ amountMinor: 10_000n, feeMinor: 150n, feePayer: 'customer' }), 10_150n);
});
