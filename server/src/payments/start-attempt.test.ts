import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { AppError } from '../api/app-error.ts';
import { approveLive } from '../merchants/business-status.ts';
import { createBusiness } from '../merchants/create-business.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { createNetworkRegistry } from '../networks/registry.ts';
import { ScriptedNetwork } from '../networks/scripted-network.corpus.ts';
import { abandonAttempt } from './abandon-attempt.ts';
import { applyResponse } from './apply-response.ts';
import type { Charge } from './charge.ts';
import type { PaymentContext } from './context.ts';
import { createPayment } from './create-payment.ts';
import type { Intent } from './intent.ts';
import { startCharge } from './jobs.ts';
import { createPaymentWorld, newPayment, refused, succeeded, type PaymentWorld } from './payment-world.corpus.ts';
import { findCurrentCharge } from './queries/charges.ts';
import { startAttempt } from './start-attempt.ts';

let world: PaymentWorld;

beforeEach(async () => {
  world = await createPaymentWorld();
  for (const { responses } of Object.values(world.networks)) {
    responses.cancel = { state: 'unknown', detail: 'no answer' };
  }
});

afterEach(async () => {
  await world.verify();
  await world.close();
});

const otherNumber = '7004321';

async function statuses(intent: Intent): Promise<string[]> {
  const charges = await world.charges(intent);
  return [(await world.intent(intent)).status, ...charges.map(({ status }) => status)];
}

async function outboxOf({ id }: Charge): Promise<string[]> {
  const rows = await world.db.rows<{ kind: string }>({
    name: 'test_outbox_of',
    text: 'SELECT kind FROM outbox WHERE merchant_id = $1 AND subject_id = $2 ORDER BY kind',
    values: [world.merchant.id, id],
  });
  return rows.map(({ kind }) => kind);
}

/** A payment whose sent attempt the payer has left. Its cancellation is due again, because the network did not respond. */
async function createAbandoned(): Promise<{ intent: Intent; charge: Charge }> {
  const { intent, charge } = await world.createSent({ network: 'wave' });
  await world.abandon(intent);
  await world.work();
  return { intent, charge: await world.charge(charge) };
}

test('the number of an abandoned attempt that is open goes back to its prompt, without a new one', async () => {
  const { intent, charge } = await createAbandoned();
  assert.deepEqual(await outboxOf(charge), ['cancel_charge', 'look_up_charge']);
  const resumed = await world.attempt(intent, 'wave');
  assert.deepEqual([resumed.id, resumed.abandonedAt], [charge.id, null]);
  assert.deepEqual(await statuses(intent), ['processing', 'pending']);
  assert.equal((await world.intent(intent)).attempts, 1n);
  assert.deepEqual(await outboxOf(charge), ['look_up_charge'], 'the cancellation is withdrawn');
  assert.deepEqual(await world.work(), ['look_up_charge'], 'at once: the prompt may have ended');
  assert.equal(world.networks.wave.count('start'), 1);
  assert.equal((await world.charge(charge)).progress, 'awaiting_payer');
  await applyResponse(world.context, charge, succeeded(charge));
  assert.deepEqual(await statuses(intent), ['successful', 'completed']);
});

test('a resumed attempt is the current one again: its refusal opens the payment for another', async () => {
  const { intent, charge } = await createAbandoned();
  const second = await world.attempt(intent, 'aps', otherNumber);
  await world.work();
  await world.abandon(intent);
  await world.attempt(intent, 'wave');
  await applyResponse(world.context, second, refused);
  assert.deepEqual(await statuses(intent), ['processing', 'pending', 'failed']);
  await applyResponse(world.context, charge, refused);
  assert.deepEqual(await statuses(intent), ['requires_payment_method', 'failed', 'failed']);
});

test('the success of a resumed first attempt cancels the abandoned second one at its network', async () => {
  const { intent, charge } = await createAbandoned();
  const second = await world.attempt(intent, 'aps', otherNumber);
  await world.work();
  await world.abandon(intent);
  await world.attempt(intent, 'wave');
  await world.asOwner(`DELETE FROM outbox WHERE kind = 'cancel_charge'`);
  await applyResponse(world.context, charge, succeeded(charge));
  assert.deepEqual(await outboxOf(second), ['cancel_charge', 'look_up_charge']);
});

test('the other form of the same number is the same attempt, the number at another network is not', async () => {
  const { intent, charge } = await createAbandoned();
  assert.equal((await world.attempt(intent, 'wave', '+220 877001234')).id, charge.id);
  await world.abandon(intent);
  assert.notEqual((await world.attempt(intent, 'aps')).id, charge.id, 'the same number at another network is another');
});

test('without a number the attempt that was left without one goes on', async () => {
  Object.assign(world.networks.wave.collections.capabilities, { numberRequired: false });
  const { intent, charge } = await world.createSent({ network: 'wave', accountNumber: null });
  await world.abandon(intent);
  const again = { intentId: intent.id, network: 'wave', accountNumber: null, fieldPrefix: '' };
  const resumed = await world.db.withTransaction((tx) => startAttempt(tx, world.context, world.merchant, again));
  assert.equal(resumed.id, charge.id);
});

test('an abandoned attempt can be resumed even when all five attempts were used', async () => {
  const { intent, charge } = await createAbandoned();
  await world.asOwner('UPDATE payment_intents SET attempts = 5');
  await assert.rejects(world.attempt(intent, 'wave', otherNumber), { code: 'state_conflict' });
  assert.equal((await world.attempt(intent, 'wave')).id, charge.id);
  assert.equal((await world.intent(intent)).attempts, 5n);
});

test('the number of an attempt that ended meanwhile, or is under review, starts a new attempt', async () => {
  const ended = await createAbandoned();
  await applyResponse(world.context, ended.charge, refused);
  assert.notEqual((await world.attempt(ended.intent, 'wave')).id, ended.charge.id);
  const paid = await world.createSent();
  await applyResponse(world.context, paid.charge, succeeded(paid.charge));
  const reviewed = await createAbandoned();
  const transactionId = `T-${paid.charge.reference}`;
  await applyResponse(world.context, reviewed.charge, succeeded(reviewed.charge, { transactionId }));
  assert.equal((await world.charge(reviewed.charge)).review, 'receipt_reused');
  assert.notEqual((await world.attempt(reviewed.intent, 'wave')).id, reviewed.charge.id);
});

test('a cancellation that was claimed before the payer went back does not cancel the attempt', async () => {
  const { intent, charge } = await world.createSent({ network: 'wave' });
  await world.abandon(intent);
  const claimed = (await world.claim()).find(({ kind }) => kind === 'cancel_charge') ?? assert.fail();
  await world.attempt(intent, 'wave');
  await world.jobs.cancel(claimed);
  assert.equal(world.networks.wave.count('cancel'), 0);
  assert.equal((await world.charge(charge)).status, 'pending');
});

/** A merchant's payment on live networks, where prompts are limited. */
async function createLive(): Promise<{
  attempt: (network: string, accountNumber: string) => Promise<Charge>;
  abandon: () => Promise<void>;
  end: (charge: Charge) => Promise<void>;
}> {
  const live = ['wave', 'aps'].map((name) => new ScriptedNetwork(name, { testMode: false }));
  for (const { responses } of live) responses.cancel = { state: 'unknown', detail: 'no answer' };
  const context: PaymentContext = { ...world.context, networks: createNetworkRegistry(live) };
  const merchant: Merchant = await world.db.withTransaction(async (tx) => {
    const { live: created } = await createBusiness(tx, context, { name: 'Kairaba Books' });
    await approveLive(tx, context, created.businessId);
    return { ...created, liveApprovedAt: world.clock.now() };
  });
  const { intent } = await world.db.withTransaction((tx) =>
    createPayment(tx, context, merchant, { ...newPayment, network: null, accountNumber: null }),
  );
  const work = { merchantId: merchant.id, kind: 'start_charge', attempts: 1n, version: 0n } as const;
  return {
    attempt: async (network, accountNumber) => {
      const request = { intentId: intent.id, network, accountNumber, fieldPrefix: '' };
      const charge = await world.db.withTransaction((tx) => startAttempt(tx, context, merchant, request));
      const queue = `network:${network}:starts` as const;
      await startCharge(context, { ...work, queue, subjectId: charge.id, createdAt: world.clock.now() });
      return charge;
    },
    abandon: async () => {
      const current = await findCurrentCharge(world.db, merchant.id, intent.id);
      const attempt = { intentId: intent.id, chargeId: current?.id ?? null };
      await world.db.withTransaction((tx) => abandonAttempt(tx, context, merchant, attempt));
    },
    end: (charge) => applyResponse(context, charge, refused).then(() => undefined),
  };
}

test('on a live network the prompt of an abandoned attempt stays open until it ends', async () => {
  const payment = await createLive();
  const other = await createLive();
  const first = await payment.attempt('wave', '7001234');
  await payment.abandon();
  const isPrompted = (error: unknown): boolean => error instanceof AppError && error.code === 'network_not_available';
  await assert.rejects(other.attempt('wave', '7001234'), isPrompted, 'nobody else may prompt the number meanwhile');
  const second = await payment.attempt('wave', otherNumber);
  assert.notEqual(second.id, first.id, 'another number is another prompt');
  await payment.abandon();
  assert.equal((await payment.attempt('wave', '7001234')).id, first.id, 'its own prompt needs no further permit');
  await payment.abandon();
  await payment.attempt('aps', '7001234');
  await payment.end(first);
  await other.attempt('wave', '7001234');
});
