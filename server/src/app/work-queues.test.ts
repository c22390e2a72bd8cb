import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { eventually } from '../../../test/harness/eventually.ts';
import { addMs } from '../kit/clock.ts';
import type { CollectionResponse, PayoutResponse } from '../networks/contract.ts';
import type { NetworkCall, ScriptedNetwork } from '../networks/scripted-network.corpus.ts';
import { createPayment } from '../payments/create-payment.ts';
import { createPaymentWorld, newPayment, type PaymentWorld } from '../payments/payment-world.corpus.ts';
import { createTransfer } from '../transfers/create-transfer.ts';
import { newTransfer, paid, transactionOf } from '../transfers/transfer-world.corpus.ts';
import { findTransferById } from '../transfers/find-transfer.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { withLocalChanges } from './local-changes.corpus.ts';
import { workerQueues } from './work-queues.ts';
import { startWorker, type Worker } from '../worker/worker.ts';

// More of one merchant than may be under way at once, so that later work finds no permit.
const manyHanging = 20;

let world: PaymentWorld;
let worker: Worker;
let context: ReturnType<typeof withLocalChanges>;
let hung: (() => void)[];

beforeEach(async () => {
  hung = [];
  world = await createPaymentWorld();
  context = withLocalChanges(world.context);
  worker = startWorker({ ...context, queues: workerQueues(context, { money: context }) });
});

afterEach(async () => {
  for (const end of hung) end();
  await worker.stop();
  await world.close();
});

/** No response until the test has ended. */
function never<Result>(): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<Result>();
  hung.push(() => reject(new Error('the test has ended')));
  return promise;
}

async function pay(network: string, count = 1): Promise<void> {
  for (let payment = 0; payment < count; payment += 1) {
    await world.db.withTransaction((tx) => createPayment(tx, context, world.merchant, { ...newPayment, network }));
  }
}

async function transfer(network: string, accountNumber = '7001234', merchant = world.merchant): Promise<Transfer> {
  const order = { ...newTransfer, network, accountNumber };
  return world.db.withTransaction((tx) => createTransfer(tx, context, merchant, order));
}

async function statusOf({ merchantId, id }: Transfer): Promise<string | undefined> {
  return (await findTransferById(world.db, merchantId, id))?.status;
}

function called(network: ScriptedNetwork, call: NetworkCall['call'], count = 1): Promise<void> {
  return eventually(`${call} number ${count}`, () => network.count(call) === count);
}

test('a network that hangs delays no call to another network, not even of the same merchant', async () => {
  const { wave, aps } = world.networks;
  Object.assign(wave.responses, { start: () => never(), look_up: () => never(), cancel: () => never() });
  wave.payoutResponses.pay_out = () => never();
  await pay('wave', manyHanging);
  for (let order = 0; order < manyHanging; order += 1) await transfer('wave');
  await called(wave, 'start', 16);
  await called(wave, 'pay_out', 16);
  // The clock stands still: nothing waits for a time limit or for a poll.
  await pay('aps');
  await called(aps, 'start');
  await transfer('aps');
  await called(aps, 'pay_out');
});

test('look-ups that hang delay no start and no payout of the same network', async () => {
  const { wave } = world.networks;
  await pay('wave', manyHanging);
  await called(wave, 'start', manyHanging);
  await worker.drain();
  wave.responses.look_up = () => never<CollectionResponse>();
  await eventually('all look-ups that may be under way hang', async () => {
    await world.clock.advance(100);
    return wave.count('look_up') === 16;
  });
  await pay('wave');
  await called(wave, 'start', manyHanging + 1);
  await transfer('wave');
  await called(wave, 'pay_out');
});

test('payouts that hang delay no payer of the same network', async () => {
  const { wave } = world.networks;
  wave.payoutResponses.pay_out = () => never<PayoutResponse>();
  for (let order = 0; order < manyHanging; order += 1) await transfer('wave');
  await called(wave, 'pay_out', 16);
  await pay('wave');
  await called(wave, 'start');
});

test('after five seconds of downtime, waiting payouts are sent within about two seconds, each once', async () => {
  const { wave } = world.networks;
  const backAt = addMs(world.clock.now(), 5_000);
  wave.payoutResponses.pay_out = async ({ reference }) => {
    if (world.clock.now() < backAt) return { state: 'not_accepted', reason: 'network_unavailable' };
    return { state: 'succeeded', providerTransaction: transactionOf({ ...newTransfer, reference, currency: 'GMD' }) };
  };
  const orders: Transfer[] = [];
  for (let order = 0; order < 5; order += 1) orders.push(await transfer('wave', `700${1_000 + order}`));
  await worker.drain();
  const downCalls = wave.count('pay_out');
  for (let second = 1; second <= 8; second += 1) {
    await world.clock.advance(1_000);
    await worker.drain();
  }
  const statuses = await Promise.all(orders.map(statusOf));
  assert.deepEqual(statuses, ['completed', 'completed', 'completed', 'completed', 'completed']);
  assert.equal(wave.count('pay_out'), downCalls + 1 + orders.length, 'one failed trial, then each once');
});

test('while the payout breaker is open, earlier payouts are still looked up', async () => {
  const { wave } = world.networks;
  wave.payoutResponses.pay_out = { state: 'unknown', detail: 'no answer' };
  const early = await transfer('wave');
  await worker.drain();
  wave.payoutResponses.pay_out = { state: 'not_accepted', reason: 'float_empty' };
  const late = await transfer('wave');
  await worker.drain();
  wave.payoutResponses.look_up_payout = paid(early);
  await world.clock.advance(5_000);
  await worker.drain();
  assert.equal(await statusOf(early), 'completed');
  assert.equal(await statusOf(late), 'pending');
  assert.equal(wave.count('pay_out'), 2);
});

test('40 payouts to a network that pays without responding are sent within three minutes, each once', async () => {
  const { wave } = world.networks;
  const hidden = new Map<string, Date>();
  wave.payoutResponses.pay_out = async ({ reference }) => {
    hidden.set(reference, addMs(world.clock.now(), 5_000));
    return { state: 'unknown', detail: 'no answer within 3000 ms' };
  };
  wave.payoutResponses.look_up_payout = async ({ reference }) => {
    const foundAt = hidden.get(reference);
    if (!foundAt || world.clock.now() < foundAt) return { state: 'not_found' };
    return { state: 'succeeded', providerTransaction: transactionOf({ ...newTransfer, reference, currency: 'GMD' }) };
  };
  const orders: Transfer[] = [];
  for (let order = 0; order < 40; order += 1) orders.push(await transfer('wave', '7770005'));
  await worker.drain();
  for (let second = 0; second < 180 && wave.count('pay_out') < orders.length; second += 1) {
    await world.clock.advance(1_000);
    await worker.drain();
  }
  assert.equal(wave.count('pay_out'), orders.length);
  assert.equal(hidden.size, orders.length, 'each payout was sent once');
});

test('payouts of one merchant without a response delay no payouts of another', async () => {
  const { wave } = world.networks;
  wave.payoutResponses.pay_out = async ({ reference }) => {
    if (reference.startsWith(world.merchant.shortId)) return { state: 'unknown', detail: 'no answer within 3000 ms' };
    return { state: 'succeeded', providerTransaction: transactionOf({ ...newTransfer, reference, currency: 'GMD' }) };
  };
  for (let order = 0; order < manyHanging; order += 1) await transfer('wave');
  await worker.drain();
  const waiting = manyHanging - wave.count('pay_out');
  assert.ok(waiting > 0, 'the merchant’s own breaker is open');
  const other = await transfer('wave', '7001234', await world.newMerchant());
  await worker.drain();
  assert.equal(await statusOf(other), 'completed');
});
