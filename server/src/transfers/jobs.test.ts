import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { eventually } from '../../../test/harness/eventually.ts';
import { AppError } from '../api/app-error.ts';
import type { PayoutResponse } from '../networks/contract.ts';
import { applyResponse } from './apply-response.ts';
import {
  createTransferWorld,
  noResponse,
  paid,
  transactionOf,
  refused,
  processing,
  type TransferWorld,
} from './transfer-world.corpus.ts';
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

/** The transfer once the worker has had this much time. */
async function after(transfer: Transfer, ms: number, stepMs?: number): Promise<Transfer> {
  await world.workFor(ms, stepMs);
  return world.transfer(transfer);
}

function respondWith(...responses: PayoutResponse[]): void {
  const { payoutResponses } = world.networks.wave;
  payoutResponses.pay_out = () => Promise.resolve(responses.shift() ?? processing);
}

test('a transfer is sent to its network once, under its reference, and looked up until it is paid', async () => {
  const transfer = await world.create();
  respondWith(processing);
  world.networks.wave.payoutResponses.look_up_payout = processing;
  assert.deepEqual(await world.work(), ['send_transfer']);
  assert.equal((await after(transfer, minuteMs)).status, 'pending');
  world.networks.wave.payoutResponses.look_up_payout = paid(transfer);
  assert.equal((await after(transfer, minuteMs)).status, 'completed');
  assert.equal(world.networks.wave.count('pay_out'), 1);
  assert.ok(world.networks.wave.calls.every(({ reference }) => reference === transfer.reference));
  const lookUps = world.networks.wave.count('look_up_payout');
  await world.workFor(hourMs, minuteMs);
  assert.equal(world.networks.wave.count('look_up_payout'), lookUps, 'a transfer that has ended is not looked up');
});

/** A network that pays a transfer once, whatever it responds, and reports the truth to look-ups. */
function rememberingNetwork(onStart: (count: number) => { pays: boolean; response: PayoutResponse | 'truth' }): {
  payments: () => number;
} {
  const payments = new Map<string, number>();
  const truth = (transfer: { reference: string; amountMinor: bigint; currency: string }): PayoutResponse => ({
    state: 'succeeded',
    providerTransaction: transactionOf(transfer),
  });
  const transfers = new Map<string, { reference: string; amountMinor: bigint; currency: string }>();
  let count = 0;
  const { payoutResponses } = world.networks.wave;
  payoutResponses.pay_out = (request) => {
    assert.ok('amountMinor' in request);
    count += 1;
    const { pays, response } = onStart(count);
    if (pays && !payments.has(request.reference)) {
      payments.set(request.reference, (payments.get(request.reference) ?? 0) + 1);
      transfers.set(request.reference, request);
    }
    return Promise.resolve(response === 'truth' ? truth(request) : response);
  };
  payoutResponses.look_up_payout = ({ reference }) => {
    const transfer = transfers.get(reference);
    return Promise.resolve(transfer ? truth(transfer) : { state: 'not_found' });
  };
  return { payments: () => [...payments.values()].reduce((sum, each) => sum + each, 0) };
}

const unavailable: PayoutResponse = { state: 'not_accepted', reason: 'network_unavailable' };

// docs/networks.md, "When a call gets no response": whatever happens to the first call, the beneficiary is paid once and the
// balance shows it.
for (const [name, first] of [
  ['the response is lost and the network has paid', { pays: true, response: noResponse }],
  ['the response is lost and the network has not paid', { pays: false, response: noResponse }],
  ['the network accepts no payouts at the moment', { pays: false, response: unavailable }],
  ['our account there is empty', { pays: false, response: { state: 'not_accepted', reason: 'float_empty' } }],
  ['the network pays and responds', { pays: true, response: 'truth' }],
] as const) {
  test(`when ${name}, the beneficiary is paid once`, async () => {
    const network = rememberingNetwork((count) => (count === 1 ? first : { pays: true, response: 'truth' }));
    const before = await world.balance('payable_available');
    const transfer = await world.create();
    await world.work();
    const heldWhileOpen = (await world.transfer(transfer)).status === 'pending' ? transfer.amountMinor : 0n;
    assert.equal(await world.balance('held'), heldWhileOpen, 'an unclear response leaves the money held');
    assert.equal((await after(transfer, 5 * minuteMs)).status, 'completed');
    assert.equal(network.payments(), 1);
    assert.equal(await world.balance('payable_available'), before - transfer.amountMinor);
    assert.equal(await world.balance('held'), 0n);
  });
}

test('a transfer the network refused, and has all the same, is looked up and not sent again', async () => {
  respondWith(unavailable);
  const transfer = await world.create();
  await world.work();
  await applyResponse(world.context, transfer, processing);
  await assert.rejects(world.cancel(transfer), { code: 'state_conflict' }, 'the network may pay it');
  world.networks.wave.payoutResponses.look_up_payout = paid(transfer);
  assert.equal((await after(transfer, minuteMs)).status, 'completed');
  assert.equal(world.networks.wave.count('pay_out'), 1);
});

test('a transfer that never arrived is resent under its reference once it can no longer arrive', async () => {
  rememberingNetwork((count) =>
    count < 3 ? { pays: false, response: noResponse } : { pays: true, response: 'truth' },
  );
  const transfer = await world.create();
  await world.work();
  await world.workFor(9_000);
  assert.equal(world.networks.wave.count('pay_out'), 1, 'it may still be on its way');
  assert.equal((await after(transfer, 2 * minuteMs)).status, 'completed');
  assert.equal(world.networks.wave.count('pay_out'), 3);
  assert.deepEqual(
    (await world.notes(transfer)).filter((kind) => kind !== 'no_clear_answer'),
    ['sent_to_network', 'sent_again', 'sent_again'],
  );
});

test('a transfer whose reported success could not be settled is still looked up', async () => {
  const [settled, transfer] = [await world.create(), await world.create()];
  respondWith(paid(settled), processing);
  await world.work();
  world.networks.wave.payoutResponses.look_up_payout = paid(transfer, { transactionId: `T-${settled.reference}` });
  assert.equal((await after(transfer, minuteMs)).review, 'receipt_reused');
  world.networks.wave.payoutResponses.look_up_payout = paid(transfer);
  assert.equal((await after(transfer, hourMs, minuteMs)).status, 'completed', 'its own success is found');
});

test('look-ups go on while a transfer waits to be resent', async () => {
  respondWith(noResponse);
  world.networks.wave.payoutResponses.look_up_payout = { state: 'not_found' };
  const transfer = await world.create();
  await world.work();
  while ((await world.transfer(transfer)).sends < 2n) {
    await world.clock.advance(1_000);
    const claimed = await world.claim();
    for (const work of claimed) if (work.kind === 'look_up_transfer') await world.jobs.lookUp(work);
    if (claimed.some(({ kind }) => kind === 'send_transfer')) break;
  }
  // The worker that had claimed the second send died: its claim has not run out.
  world.networks.wave.payoutResponses.look_up_payout = paid(transfer);
  await world.clock.advance(30_000);
  for (const work of await world.claim()) if (work.kind === 'look_up_transfer') await world.jobs.lookUp(work);
  assert.equal((await world.transfer(transfer)).status, 'completed');
});

test('a transfer that the network has accepted is never resent, whatever the network reports later', async () => {
  respondWith(processing);
  world.networks.wave.payoutResponses.look_up_payout = { state: 'not_found' };
  const transfer = await world.create();
  await world.work();
  await world.workFor(hourMs, minuteMs);
  assert.equal(world.networks.wave.count('pay_out'), 1);
  assert.equal((await world.transfer(transfer)).status, 'pending');
});

test('a transfer that never arrives is sent five times, then it opens a case', async () => {
  rememberingNetwork(() => ({ pays: false, response: noResponse }));
  const transfer = await world.create();
  await world.work();
  const waiting = await after(transfer, 26 * hourMs, 5 * minuteMs);
  assert.deepEqual([waiting.status, waiting.review], ['pending', 'outcome_unknown']);
  assert.equal(world.networks.wave.count('pay_out'), 5);
  assert.equal(await world.balance('held'), transfer.amountMinor, 'it is not known that nothing was paid');
  assert.deepEqual(await world.cases(transfer), ['outcome_unknown']);
});

test('a transfer unknown for a day opens one case, and hourly look-ups end when the network responds', async () => {
  respondWith(processing);
  world.networks.wave.payoutResponses.look_up_payout = noResponse;
  const transfer = await world.create();
  await world.work();
  await world.workFor(30 * hourMs, 10 * minuteMs);
  assert.deepEqual(await world.cases(transfer), ['outcome_unknown']);
  const requested = world.networks.wave.count('look_up_payout');
  await world.workFor(5 * hourMs, 10 * minuteMs);
  const inFiveHours = world.networks.wave.count('look_up_payout') - requested;
  assert.ok(inFiveHours >= 4 && inFiveHours <= 6, `${inFiveHours} times`);
  world.networks.wave.payoutResponses.look_up_payout = paid(transfer);
  const done = await after(transfer, 2 * hourMs, 10 * minuteMs);
  assert.deepEqual([done.status, done.review], ['completed', null]);
});

test('while the breaker is open a transfer waits, shows the reason, and can be cancelled', async () => {
  rememberingNetwork(() => ({ pays: false, response: unavailable }));
  const transfer = await world.create();
  await world.work();
  const waiting = await after(transfer, minuteMs);
  assert.deepEqual(
    [waiting.status, waiting.progress, waiting.waitingFor],
    ['pending', 'created', 'network_unavailable'],
  );
  assert.equal((await world.cancel(transfer)).status, 'cancelled');
  assert.equal(await world.balance('held'), 0n);
  const sent = world.networks.wave.count('pay_out');
  await world.workFor(hourMs, minuteMs);
  assert.equal(world.networks.wave.count('pay_out'), sent, 'what was cancelled is not sent');
  assert.deepEqual(await world.events(transfer), ['transfer.created', 'transfer.cancelled']);
});

test('after a lost response a later "not accepted" does not mark the transfer as never sent', async () => {
  rememberingNetwork((count) => ({ pays: false, response: count === 1 ? noResponse : unavailable }));
  const transfer = await world.create();
  await world.work();
  await world.workFor(minuteMs);
  assert.ok(world.networks.wave.count('pay_out') >= 2);
  await assert.rejects(world.cancel(transfer), (error) => error instanceof AppError && error.code === 'state_conflict');
  assert.equal(await world.balance('held'), transfer.amountMinor);
});

test('a transfer that was sent or has ended cannot be cancelled', async () => {
  for (const response of [processing, refused]) {
    const transfer = await world.createSent(response);
    await assert.rejects(
      world.cancel(transfer),
      (error) => error instanceof AppError && error.code === 'state_conflict',
    );
  }
});

test('of a concurrent cancellation and send one wins: no transfer is both sent and released', async () => {
  for (let round = 0; round < 15; round += 1) {
    world.networks.wave.calls.length = 0;
    respondWith(processing);
    const transfer = await world.create();
    const [cancelled] = await Promise.allSettled([world.cancel(transfer), world.work()]);
    const { status } = await world.transfer(transfer);
    const sent = world.networks.wave.count('pay_out');
    assert.deepEqual([status, sent], cancelled.status === 'fulfilled' ? ['cancelled', 0] : ['pending', 1]);
  }
});

test('a worker that died before the call is replaced by the look-up, which finds nothing and sends', async () => {
  const transfer = await world.create();
  const [work] = await world.claim();
  assert.ok(work);
  // The call is made and its response never arrives.
  const gone = Promise.withResolvers<PayoutResponse>();
  world.networks.wave.payoutResponses.pay_out = () => gone.promise;
  void world.jobs.send(work);
  await eventually('the network is called', () => world.networks.wave.count('pay_out') === 1);
  assert.equal((await world.transfer(transfer)).progress, 'submitted', 'written before the call');
  rememberingNetwork(() => ({ pays: true, response: 'truth' }));
  assert.equal((await after(transfer, minuteMs)).status, 'completed');
});

test('two workers that claimed the same work send it once', async () => {
  respondWith(processing, processing);
  const transfer = await world.create();
  const [work] = await world.claim();
  assert.ok(work);
  await Promise.all([world.jobs.send(work), world.jobs.send(work), world.jobs.send(work)]);
  assert.equal(world.networks.wave.count('pay_out'), 1);
  await world.jobs.send(work);
  assert.equal(world.networks.wave.count('pay_out'), 1, 'the same work does not send it again later either');
  assert.equal((await world.transfer(transfer)).sends, 1n);
});

test('callbacks complete a transfer like responses do; another network’s callback does not', async () => {
  const transfer = await world.createSent(processing);
  const notification = { operation: 'payout', reference: transfer.reference, response: paid(transfer) } as const;
  assert.equal(await world.jobs.applyNotification('rail-qmoney', notification), 'unmatched');
  assert.equal(
    await world.jobs.applyNotification('rail-wave', { ...notification, reference: 'Shop1234unknown' }),
    'unmatched',
  );
  assert.equal((await world.transfer(transfer)).status, 'pending');
  assert.equal(await world.jobs.applyNotification('rail-wave', notification), 'applied');
  assert.equal(await world.jobs.applyNotification('rail-wave', notification), 'applied');
  assert.equal((await world.transfer(transfer)).status, 'completed');
});

test('a callback that proves nothing only brings the look-up forward', async () => {
  const transfer = await world.createSent(processing);
  const hint = { operation: 'payout', reference: transfer.reference, response: null } as const;
  const { payoutResponses } = world.networks.wave;
  payoutResponses.look_up_payout = paid(transfer);
  assert.equal(await world.jobs.applyNotification('rail-wave', hint), 'applied');
  assert.equal((await world.transfer(transfer)).status, 'pending');
  assert.deepEqual(await world.work(), ['look_up_transfer']);
  assert.equal((await world.transfer(transfer)).status, 'completed');
  payoutResponses.look_up_payout = { state: 'reversed', providerTransaction: transactionOf(transfer) };
  assert.equal(await world.jobs.applyNotification('rail-wave', hint), 'applied');
  assert.deepEqual(await world.work(), ['recheck_transfer']);
  assert.equal((await world.transfer(transfer)).status, 'reversed');
});

test('the hint of a reversal survives the look-up under way that finds a transfer paid', async () => {
  const transfer = await world.createSent(processing);
  world.networks.wave.payoutResponses.look_up_payout = async () => {
    const reversal = { state: 'reversed', providerTransaction: transactionOf(transfer) } as const;
    world.networks.wave.payoutResponses.look_up_payout = reversal;
    const hint = { operation: 'payout', reference: transfer.reference, response: null } as const;
    assert.equal(await world.jobs.applyNotification('rail-wave', hint), 'applied');
    return paid(transfer);
  };
  assert.equal((await after(transfer, minuteMs)).status, 'reversed');
});

for (const outcome of ['completed', 'failed'] as const) {
  test(`the hint that a ${outcome} transfer has changed survives look-ups without a clear response`, async () => {
    const { payoutResponses } = world.networks.wave;
    const transfer = await world.createSent(processing);
    payoutResponses.look_up_payout = outcome === 'completed' ? paid(transfer) : refused;
    assert.equal((await after(transfer, minuteMs)).status, outcome);
    payoutResponses.look_up_payout = noResponse;
    const hint = { operation: 'payout', reference: transfer.reference, response: null } as const;
    assert.equal(await world.jobs.applyNotification('rail-wave', hint), 'applied');
    assert.deepEqual(await world.work(), ['recheck_transfer']);
    const reversal = { state: 'reversed', providerTransaction: transactionOf(transfer) } as const;
    payoutResponses.look_up_payout = outcome === 'completed' ? reversal : paid(transfer);
    const { status, review } = await after(transfer, minuteMs);
    assert.deepEqual([status, review], outcome === 'completed' ? ['reversed', null] : ['failed', 'late_success']);
  });
}

test('the hint of a reversal survives half an hour in which the network does not respond', async () => {
  const { payoutResponses } = world.networks.wave;
  const transfer = await world.createSent(processing);
  payoutResponses.look_up_payout = paid(transfer);
  assert.equal((await after(transfer, minuteMs)).status, 'completed');
  payoutResponses.look_up_payout = noResponse;
  const hint = { operation: 'payout', reference: transfer.reference, response: null } as const;
  assert.equal(await world.jobs.applyNotification('rail-wave', hint), 'applied');
  await after(transfer, 30 * minuteMs, minuteMs);
  payoutResponses.look_up_payout = { state: 'reversed', providerTransaction: transactionOf(transfer) };
  assert.equal((await after(transfer, hourMs, hourMs)).status, 'reversed');
});

test('a reversal that no callback reports is found by the look-ups after the success', async () => {
  Object.assign(world.networks.wave.payouts.capabilities, { recheckAfterMs: [10_000, minuteMs] });
  const transfer = await world.create();
  const { payoutResponses } = world.networks.wave;
  payoutResponses.pay_out = paid(transfer);
  await world.work();
  payoutResponses.look_up_payout = { state: 'not_found' };
  assert.equal((await after(transfer, 20_000, 10_000)).status, 'completed');
  payoutResponses.look_up_payout = { state: 'reversed', providerTransaction: transactionOf(transfer) };
  assert.equal((await after(transfer, minuteMs, 10_000)).status, 'reversed');
  await world.clock.advance(hourMs);
  assert.deepEqual(await world.work(), [], 'no look-up follows the last');
});

test('the reversal of a payout that was paid late is found by the look-ups after it', async () => {
  Object.assign(world.networks.wave.payouts.capabilities, { recheckAfterMs: [10_000, minuteMs] });
  const transfer = await world.createSent(refused);
  const before = await world.balance('payable_available');
  await applyResponse(world.context, transfer, paid(transfer));
  const { payoutResponses } = world.networks.wave;
  payoutResponses.look_up_payout = paid(transfer);
  assert.equal((await after(transfer, 20_000, 10_000)).review, 'late_success');
  payoutResponses.look_up_payout = { state: 'reversed', providerTransaction: transactionOf(transfer) };
  const { status, review } = await after(transfer, minuteMs, 10_000);
  assert.deepEqual([status, review, await world.balance('payable_available')], ['failed', null, before]);
});

test('a late callback of a trial payout without a response closes the circuit breaker', async () => {
  for (let sent = 0; sent < 5; sent += 1) await world.createSent(noResponse);
  await world.clock.advance(2_000);
  const trial = await world.createSent(noResponse);
  assert.equal((await world.createSent(processing)).waitingFor, 'network_unavailable');
  const notification = { operation: 'payout', reference: trial.reference, response: paid(trial) } as const;
  assert.equal(await world.jobs.applyNotification('rail-wave', notification), 'applied');
  const next = await world.createSent(processing);
  assert.deepEqual([next.progress, next.waitingFor], ['submitted', null]);
});

test('40 transfers to a network that pays and never responds leave in three minutes at live timeouts', async () => {
  const { wave } = world.networks;
  Object.assign(wave.capabilities, { callTimeoutMs: 20_000 });
  Object.assign(wave.payouts.capabilities, { lookUpDelaysMs: [15_000, 30_000] });
  const network = rememberingNetwork(() => ({ pays: true, response: noResponse }));
  const transfers = await Promise.all(Array.from({ length: 40 }, () => world.create({ amountMinor: 100n })));
  await world.work();
  assert.equal(network.payments(), 5, 'then the circuit breaker opens');
  await world.workFor(3 * minuteMs);
  assert.deepEqual([network.payments(), wave.count('pay_out')], [40, 40]);
  await world.workFor(minuteMs);
  for (const transfer of transfers) assert.equal((await world.transfer(transfer)).status, 'completed');
});
