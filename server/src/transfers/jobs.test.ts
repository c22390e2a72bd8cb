import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { eventually } from '../../../test/harness/eventually.ts';
import { AppError } from '../kit/app-error.ts';
import type { PayoutResponse } from '../networks/contract.ts';
import { applyResponse } from './apply-response.ts';
import { createTransferWorld, noResponse, paid, transactionOf, refused, taken } from './transfer-world.corpus.ts';
import type { TransferWorld } from './transfer-world.corpus.ts';
import type { Transfer } from './transfer.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

let world: TransferWorld;

beforeEach(async () => {
  world = await createTransferWorld();
});

afterEach(async () => {
  await world.verify();
  await world.close();
});

/** What became of an order after the worker has had the time. */
async function after(order: Transfer, ms: number, stepMs?: number): Promise<Transfer> {
  await world.workFor(ms, stepMs);
  return world.transfer(order);
}

function respondWith(...responses: PayoutResponse[]): void {
  const { payoutResponses } = world.networks.wave;
  payoutResponses.pay_out = () => Promise.resolve(responses.shift() ?? taken);
}

test('an order goes to its network once, under its reference, and is looked up until the network has paid', async () => {
  const order = await world.create();
  respondWith(taken);
  world.networks.wave.payoutResponses.look_up_payout = taken;
  assert.deepEqual(await world.work(), ['send_transfer']);
  assert.equal((await after(order, minuteMs)).status, 'pending');
  world.networks.wave.payoutResponses.look_up_payout = paid(order);
  assert.equal((await after(order, minuteMs)).status, 'completed');
  assert.equal(world.networks.wave.count('pay_out'), 1);
  assert.ok(world.networks.wave.calls.every(({ reference }) => reference === order.reference));
  const lookUps = world.networks.wave.count('look_up_payout');
  await world.workFor(hourMs, minuteMs);
  assert.equal(world.networks.wave.count('look_up_payout'), lookUps, 'what has ended is asked about no more');
});

/** A network that pays an order once, whatever it answers, and knows afterwards what it did. */
function rememberingNetwork(onStart: (count: number) => { pays: boolean; response: PayoutResponse | 'truth' }): {
  payments: () => number;
} {
  const payments = new Map<string, number>();
  const truth = (order: { reference: string; amountMinor: bigint; currency: string }): PayoutResponse => ({
    state: 'succeeded',
    providerTransaction: transactionOf(order),
  });
  const orders = new Map<string, { reference: string; amountMinor: bigint; currency: string }>();
  let count = 0;
  const { payoutResponses } = world.networks.wave;
  payoutResponses.pay_out = (request) => {
    assert.ok('amountMinor' in request);
    count += 1;
    const { pays, response } = onStart(count);
    if (pays && !payments.has(request.reference)) {
      payments.set(request.reference, (payments.get(request.reference) ?? 0) + 1);
      orders.set(request.reference, request);
    }
    return Promise.resolve(response === 'truth' ? truth(request) : response);
  };
  payoutResponses.look_up_payout = ({ reference }) => {
    const order = orders.get(reference);
    return Promise.resolve(order ? truth(order) : { state: 'not_found' });
  };
  return { payments: () => [...payments.values()].reduce((sum, each) => sum + each, 0) };
}

const unavailable: PayoutResponse = { state: 'not_accepted', reason: 'network_unavailable' };

// docs/networks.md, "When a call gets no answer": whatever happens to the first call, the beneficiary is paid once and the
// balance says so.
for (const [name, first] of [
  ['the answer is lost and the network has paid', { pays: true, response: noResponse }],
  ['the answer is lost and the network has not paid', { pays: false, response: noResponse }],
  ['the network takes nothing just now', { pays: false, response: unavailable }],
  ['our account there is empty', { pays: false, response: { state: 'not_accepted', reason: 'float_empty' } }],
  ['the network pays and says so', { pays: true, response: 'truth' }],
] as const) {
  test(`when ${name}, the beneficiary is paid once`, async () => {
    const network = rememberingNetwork((count) => (count === 1 ? first : { pays: true, response: 'truth' }));
    const before = await world.balance('payable_available');
    const order = await world.create();
    await world.work();
    const heldWhileOpen = (await world.transfer(order)).status === 'pending' ? order.amountMinor : 0n;
    assert.equal(await world.balance('held'), heldWhileOpen, 'an unclear answer leaves the money held');
    assert.equal((await after(order, 5 * minuteMs)).status, 'completed');
    assert.equal(network.payments(), 1);
    assert.equal(await world.balance('payable_available'), before - order.amountMinor);
    assert.equal(await world.balance('held'), 0n);
  });
}

test('a transfer the network refused, and has all the same, is looked up and not sent again', async () => {
  respondWith(unavailable);
  const order = await world.create();
  await world.work();
  await applyResponse(world.context, order, taken);
  await assert.rejects(world.cancel(order), { code: 'state_conflict' }, 'the network may pay it');
  world.networks.wave.payoutResponses.look_up_payout = paid(order);
  assert.equal((await after(order, minuteMs)).status, 'completed');
  assert.equal(world.networks.wave.count('pay_out'), 1);
});

test('a transfer that never arrived is resent under its reference once it can no longer arrive', async () => {
  rememberingNetwork((count) =>
    count < 3 ? { pays: false, response: noResponse } : { pays: true, response: 'truth' },
  );
  const order = await world.create();
  await world.work();
  await world.workFor(9_000);
  assert.equal(world.networks.wave.count('pay_out'), 1, 'it may still be on its way');
  assert.equal((await after(order, 2 * minuteMs)).status, 'completed');
  assert.equal(world.networks.wave.count('pay_out'), 3);
  assert.deepEqual(
    (await world.notes(order)).filter((kind) => kind !== 'no_clear_answer'),
    ['sent_to_network', 'sent_again', 'sent_again'],
  );
});

test('an order whose success is doubted goes on being looked up', async () => {
  const [settled, order] = [await world.create(), await world.create()];
  respondWith(paid(settled), taken);
  await world.work();
  world.networks.wave.payoutResponses.look_up_payout = paid(order, { transactionId: `T-${settled.reference}` });
  assert.equal((await after(order, minuteMs)).review, 'receipt_reused');
  world.networks.wave.payoutResponses.look_up_payout = paid(order);
  assert.equal((await after(order, hourMs, minuteMs)).status, 'completed', 'its own success is found');
});

test('look-ups go on while an order waits to be sent again', async () => {
  respondWith(noResponse);
  world.networks.wave.payoutResponses.look_up_payout = { state: 'not_found' };
  const order = await world.create();
  await world.work();
  while ((await world.transfer(order)).sends < 2n) {
    await world.clock.advance(1_000);
    const claimed = await world.claim();
    for (const work of claimed) if (work.kind === 'look_up_transfer') await world.jobs.lookUp(work);
    if (claimed.some(({ kind }) => kind === 'send_transfer')) break;
  }
  // The worker that had claimed the second send died: its claim has not run out.
  world.networks.wave.payoutResponses.look_up_payout = paid(order);
  await world.clock.advance(30_000);
  for (const work of await world.claim()) if (work.kind === 'look_up_transfer') await world.jobs.lookUp(work);
  assert.equal((await world.transfer(order)).status, 'completed');
});

test('an order that the network has acknowledged is never sent again, whatever it says later', async () => {
  respondWith(taken);
  world.networks.wave.payoutResponses.look_up_payout = { state: 'not_found' };
  const order = await world.create();
  await world.work();
  await world.workFor(hourMs, minuteMs);
  assert.equal(world.networks.wave.count('pay_out'), 1);
  assert.equal((await world.transfer(order)).status, 'pending');
});

test('a network that never gets an order is not asked for ever: a person is', async () => {
  rememberingNetwork(() => ({ pays: false, response: noResponse }));
  const order = await world.create();
  await world.work();
  const waiting = await after(order, 26 * hourMs, 5 * minuteMs);
  assert.deepEqual([waiting.status, waiting.review], ['pending', 'outcome_unknown']);
  assert.equal(world.networks.wave.count('pay_out'), 5);
  assert.equal(await world.balance('held'), order.amountMinor, 'nobody has said that nothing was paid');
  assert.deepEqual(await world.cases(order), ['outcome_unknown']);
});

test('a transfer unknown for a day opens one case, and hourly look-ups end when the network responds', async () => {
  respondWith(taken);
  world.networks.wave.payoutResponses.look_up_payout = noResponse;
  const order = await world.create();
  await world.work();
  await world.workFor(30 * hourMs, 10 * minuteMs);
  assert.deepEqual(await world.cases(order), ['outcome_unknown']);
  const requested = world.networks.wave.count('look_up_payout');
  await world.workFor(5 * hourMs, 10 * minuteMs);
  const inFiveHours = world.networks.wave.count('look_up_payout') - requested;
  assert.ok(inFiveHours >= 4 && inFiveHours <= 6, `${inFiveHours} times`);
  world.networks.wave.payoutResponses.look_up_payout = paid(order);
  const done = await after(order, 2 * hourMs, 10 * minuteMs);
  assert.deepEqual([done.status, done.review], ['completed', null]);
});

test('while the breaker is open a transfer waits, shows the reason, and can be cancelled', async () => {
  rememberingNetwork(() => ({ pays: false, response: unavailable }));
  const order = await world.create();
  await world.work();
  const waiting = await after(order, minuteMs);
  assert.deepEqual(
    [waiting.status, waiting.progress, waiting.waitingFor],
    ['pending', 'created', 'network_unavailable'],
  );
  assert.equal((await world.cancel(order)).status, 'cancelled');
  assert.equal(await world.balance('held'), 0n);
  const sent = world.networks.wave.count('pay_out');
  await world.workFor(hourMs, minuteMs);
  assert.equal(world.networks.wave.count('pay_out'), sent, 'what was cancelled is not sent');
  assert.deepEqual(await world.events(order), ['transfer.created', 'transfer.cancelled']);
});

test('after a lost response a later "not accepted" does not mark the transfer as never sent', async () => {
  rememberingNetwork((count) => ({ pays: false, response: count === 1 ? noResponse : unavailable }));
  const order = await world.create();
  await world.work();
  await world.workFor(minuteMs);
  assert.ok(world.networks.wave.count('pay_out') >= 2);
  await assert.rejects(world.cancel(order), (error) => error instanceof AppError && error.code === 'state_conflict');
  assert.equal(await world.balance('held'), order.amountMinor);
});

test('what was sent cannot be cancelled, and what ended cannot either', async () => {
  for (const response of [taken, refused]) {
    const order = await world.createSent(response);
    await assert.rejects(world.cancel(order), (error) => error instanceof AppError && error.code === 'state_conflict');
  }
});

test('of a concurrent cancellation and send one wins: no transfer is both sent and released', async () => {
  for (let round = 0; round < 15; round += 1) {
    world.networks.wave.calls.length = 0;
    respondWith(taken);
    const order = await world.create();
    const [cancelled] = await Promise.allSettled([world.cancel(order), world.work()]);
    const { status } = await world.transfer(order);
    const sent = world.networks.wave.count('pay_out');
    assert.deepEqual([status, sent], cancelled.status === 'fulfilled' ? ['cancelled', 0] : ['pending', 1]);
  }
});

test('a worker that died before the call is replaced by the look-up, which finds nothing and sends', async () => {
  const order = await world.create();
  const [work] = await world.claim();
  assert.ok(work);
  // The call is made and never comes back to us.
  const gone = Promise.withResolvers<PayoutResponse>();
  world.networks.wave.payoutResponses.pay_out = () => gone.promise;
  void world.jobs.send(work);
  await eventually('the network is called', () => world.networks.wave.count('pay_out') === 1);
  assert.equal((await world.transfer(order)).progress, 'submitted', 'written before the call');
  rememberingNetwork(() => ({ pays: true, response: 'truth' }));
  assert.equal((await after(order, minuteMs)).status, 'completed');
});

test('two workers that hold the same work send it once', async () => {
  respondWith(taken, taken);
  const order = await world.create();
  const [work] = await world.claim();
  assert.ok(work);
  await Promise.all([world.jobs.send(work), world.jobs.send(work), world.jobs.send(work)]);
  assert.equal(world.networks.wave.count('pay_out'), 1);
  await world.jobs.send(work);
  assert.equal(world.networks.wave.count('pay_out'), 1, 'nor does the same work send it again later');
  assert.equal((await world.transfer(order)).sends, 1n);
});

test('callbacks complete a transfer like responses do; another network’s callback does not', async () => {
  const order = await world.createSent(taken);
  const notification = { operation: 'payout', reference: order.reference, response: paid(order) } as const;
  assert.equal(await world.jobs.applyNotification('qmoney-test', notification), 'unmatched');
  assert.equal(
    await world.jobs.applyNotification('wave-test', { ...notification, reference: 'Shop1234unknown' }),
    'unmatched',
  );
  assert.equal((await world.transfer(order)).status, 'pending');
  assert.equal(await world.jobs.applyNotification('wave-test', notification), 'applied');
  assert.equal(await world.jobs.applyNotification('wave-test', notification), 'applied');
  assert.equal((await world.transfer(order)).status, 'completed');
});

test('a callback of a payout sent while the breaker was open, and never answered, closes the breaker', async () => {
  for (let sent = 0; sent < 5; sent += 1) await world.createSent(noResponse);
  await world.clock.advance(2_000);
  const trial = await world.createSent(noResponse);
  assert.equal((await world.createSent(taken)).waitingFor, 'network_unavailable');
  const notification = { operation: 'payout', reference: trial.reference, response: paid(trial) } as const;
  assert.equal(await world.jobs.applyNotification('wave-test', notification), 'applied');
  const next = await world.createSent(taken);
  assert.deepEqual([next.progress, next.waitingFor], ['submitted', null]);
});
