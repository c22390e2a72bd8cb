import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { listCases } from '../cases/list-cases.ts';
import type { CaseResolver } from '../cases/resolution.ts';
import { confirmResolution, proposeResolution } from '../cases/resolve-case.ts';
import type { PayoutBatch, PayoutBatchResponse, PayoutResponse } from '../networks/contract.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { countWaiting } from '../../../test/harness/tables.ts';
import { createTransferResolvers } from './resolve-case.ts';
import {
  createTransferWorld,
  noResponse,
  paid,
  processing,
  refused,
  type TransferWorld,
} from './transfer-world.corpus.ts';
import type { Transfer } from './transfer.ts';

const batchMax = 4;
const secondMs = 1_000;
const minuteMs = 60 * secondMs;

let world: TransferWorld;
let batches: PayoutBatch[];

beforeEach(async () => {
  batches = [];
  world = await createTransferWorld({ payouts: { batchMax } });
  world.networks.wave.payoutResponses.look_up_payout = processing;
});

afterEach(async () => {
  await world.verify();
  await world.close();
});

const accepted: PayoutBatchResponse = { state: 'accepted', networkReference: 'B-1', handles: { batch: 'B-1' } };

/** What the network responds to one batch after the other; then it accepts them. */
function respondToBatches(...responses: (PayoutBatchResponse | Error)[]): void {
  world.networks.wave.batchResponse = async (batch) => {
    batches.push(batch);
    const response = responses.shift() ?? accepted;
    if (response instanceof Error) throw response;
    return response;
  };
}

/** What look-ups find, by the reference of the transfer; else "not found". */
function findOnly(found: ReadonlyMap<string, PayoutResponse>): void {
  world.networks.wave.payoutResponses.look_up_payout = async ({ reference }) =>
    found.get(reference) ?? { state: 'not_found' };
}

async function createSeveral(count: number): Promise<Transfer[]> {
  const transfers: Transfer[] = [];
  for (let created = 0; created < count; created += 1) transfers.push(await world.create());
  return transfers;
}

/** Does one task of sending, which sends what else is due. */
async function sendDue(): Promise<void> {
  const [work] = await world.claim(1);
  assert.ok(work);
  await world.jobs.send(work);
}

const referencesOf = (transfers: readonly Transfer[]) => transfers.map(({ reference }) => reference);
const sent = () => batches.map(({ payouts }) => payouts.map(({ reference }) => reference));
const statuses = (transfers: readonly Transfer[]) =>
  Promise.all(transfers.map(async (transfer) => (await world.transfer(transfer)).status));

test('what is due for an account goes in calls of at most as many as a batch takes; a lone one goes alone', async () => {
  respondToBatches();
  const transfers = await createSeveral(batchMax + 2);
  const other = await world.create({ network: 'qmoney' });
  await sendDue();
  await sendDue();
  assert.deepEqual(
    sent().map((references) => references.length),
    [batchMax, 2],
  );
  assert.deepEqual(sent().flat().toSorted(), referencesOf(transfers).toSorted(), 'each once');
  const [first] = batches;
  assert.ok(first && !referencesOf(transfers).includes(first.reference), 'a batch has a reference of its own');
  assert.equal((await world.transfer(other)).progress, 'created');
  world.networks.wave.payoutResponses.pay_out = async (request) =>
    paid({ reference: request.reference, amountMinor: 10_000n, currency: 'GMD' });
  const alone = await world.create();
  await world.work();
  assert.deepEqual(await statuses([alone]), ['completed']);
  assert.equal(batches.length, 2);
});

test('a transfer that is cancelled while the batch waits is left out of it, and nobody else of it', async () => {
  const calls: (() => void)[] = [];
  world.networks.wave.batchResponse = (batch) => {
    batches.push(batch);
    const { promise, resolve } = Promise.withResolvers<PayoutBatchResponse>();
    calls.push(() => resolve(accepted));
    return batches.length === 1 ? promise : Promise.resolve(accepted);
  };
  const first = await createSeveral(2);
  const working = sendDue();
  await eventually('the first batch is under way', () => batches.length === 1);
  const [cancelled, ...rest] = await createSeveral(3);
  assert.ok(cancelled);
  const works = await world.claim();
  const waiting = Promise.all(works.map((work) => world.jobs.send(work)));
  await world.cancel(cancelled);
  for (const respond of calls) respond();
  await Promise.all([working, waiting]);
  // Whoever is read too late for the second call goes with a third.
  assert.deepEqual(sent()[0], referencesOf(first));
  assert.ok(!sent().flat().includes(cancelled.reference));
  assert.deepEqual(await statuses([cancelled, ...rest]), ['cancelled', 'pending', 'pending']);
  for (const transfer of rest) assert.equal((await world.transfer(transfer)).progress, 'submitted');
});

test('each transfer of a batch ends as its own look-up says, whatever became of the others', async () => {
  respondToBatches();
  const [first, second, third] = await createSeveral(3);
  assert.ok(first && second && third);
  await sendDue();
  assert.deepEqual(await world.notes(first), ['sent_to_network', 'accepted_by_network']);
  const found = new Map<string, PayoutResponse>([
    [first.reference, paid(first)],
    [second.reference, refused],
    [third.reference, { state: 'not_accepted', reason: 'float_empty' }],
  ]);
  findOnly(found);
  await world.workFor(2 * secondMs);
  assert.deepEqual(await statuses([first, second, third]), ['completed', 'failed', 'pending']);
  const waiting = await world.transfer(third);
  assert.deepEqual(
    [waiting.progress, waiting.waitingFor, waiting.batchReference, waiting.networkReference],
    ['created', 'float_empty', null, null],
  );
  // Its own call, under its own reference, once the circuit breaker lets a trial through.
  world.networks.wave.payoutResponses.pay_out = paid(third);
  await world.workFor(minuteMs, 10 * secondMs);
  assert.deepEqual([await statuses([third]), batches.length], [['completed'], 1]);
});

test('a batch without a response is sent again as it was, with its reference and what was found by then', async () => {
  respondToBatches({ state: 'unknown', detail: 'no answer' });
  const transfers = await createSeveral(3);
  const [first] = transfers;
  assert.ok(first);
  findOnly(new Map([[first.reference, paid(first)]]));
  await sendDue();
  await world.workFor(9 * secondMs);
  assert.deepEqual(await statuses(transfers), ['completed', 'pending', 'pending']);
  assert.equal(batches.length, 1, 'the first request can still arrive');
  findOnly(new Map(transfers.map((transfer) => [transfer.reference, processing])));
  world.networks.wave.payoutResponses.look_up_payout = { state: 'not_found' };
  await world.workFor(minuteMs);
  assert.equal(batches.length, 2, 'and once, though each of its transfers asks for it');
  assert.deepEqual(batches[1], batches[0]);
  assert.equal(world.networks.wave.count('pay_out'), 0);
});

/** Two operators release what a network has not reported on for a day. The decision commits once `beforeCommit` has ended. */
async function decideNotPaid({ id }: Transfer, beforeCommit = () => Promise.resolve()): Promise<void> {
  const found = (await listCases(world.db, 'open', 10, null)).find(({ subjectId }) => subjectId === id);
  assert.ok(found);
  const resolvers = createTransferResolvers(world.context).map((resolver): CaseResolver => ({
    ...resolver,
    prepare: async (...about) => {
      const carryOut = await resolver.prepare(...about);
      return (...step) => carryOut(...step).then(beforeCommit);
    },
  }));
  const context = { ...world.context, resolvers, isOperator: () => Promise.resolve(true) };
  const [operatorId, second] = [world.context.newId(), world.context.newId()];
  const evidence = 'The network does not have it, ticket 4711.';
  const proposal = { caseId: found.id, resolution: 'not_paid', evidence, reported: null, operatorId };
  await proposeResolution(context, proposal);
  await confirmResolution(context, { caseId: found.id, operatorId: second });
}

test('a batch is not sent again while people decide that one of it was not paid', async () => {
  respondToBatches({ state: 'unknown', detail: 'no answer' });
  const [released, other] = await createSeveral(2);
  assert.ok(released && other);
  world.networks.wave.payoutResponses.look_up_payout = noResponse;
  await sendDue();
  await world.workFor(25 * 60 * minuteMs, 30 * minuteMs);
  findOnly(new Map());
  await world.clock.advance(60 * minuteMs);
  for (const work of await world.claim()) await world.jobs.lookUp(work);
  const [isDecided, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const decision = decideNotPaid(released, () => {
    isDecided.resolve();
    return mayCommit.promise;
  });
  await isDecided.promise;
  const again = (await world.claim()).find(({ kind, subjectId }) => kind === 'send_transfer' && subjectId === other.id);
  assert.ok(again);
  const sending = world.jobs.send(again);
  await eventually('sending waits for the decision', async () => (await countWaiting(world.db)) > 0);
  mayCommit.resolve();
  await Promise.all([decision, sending]);
  assert.equal(batches.length, 1, 'sent again, it would pay what was released');
  assert.deepEqual(await statuses([released, other]), ['failed', 'pending']);
});

test('a batch is not sent again once people have decided that one of it was not paid', async () => {
  respondToBatches({ state: 'unknown', detail: 'no answer' });
  const [released, other] = await createSeveral(2);
  assert.ok(released && other);
  world.networks.wave.payoutResponses.look_up_payout = noResponse;
  await sendDue();
  await world.workFor(25 * 60 * minuteMs, 30 * minuteMs);
  await decideNotPaid(released);
  // The network is back, and has never received the batch.
  findOnly(new Map());
  await world.workFor(3 * 60 * minuteMs, 30 * minuteMs);
  assert.equal(batches.length, 1, 'sent again, it would pay what was released');
  assert.deepEqual(await statuses([released, other]), ['failed', 'pending']);
});

test('a process that dies around the call leaves each transfer of a batch to its look-up', async () => {
  respondToBatches(new Error('the process dies'));
  const transfers = await createSeveral(2);
  await assert.rejects(sendDue(), /the process dies/);
  assert.deepEqual(await statuses(transfers), ['pending', 'pending']);
  await assert.rejects(world.cancel(transfers[0] ?? assert.fail()), /has been sent/);
  findOnly(new Map());
  await world.workFor(minuteMs);
  assert.deepEqual(sent(), [referencesOf(transfers), referencesOf(transfers)]);
  findOnly(new Map(transfers.map((transfer) => [transfer.reference, paid(transfer)])));
  await world.workFor(minuteMs);
  assert.deepEqual(await statuses(transfers), ['completed', 'completed']);
});

test('of a batch that is refused whole each transfer goes alone; one that breaks a rule stops no other', async () => {
  respondToBatches({ state: 'refused' });
  const transfers = await createSeveral(3);
  const [bad] = transfers;
  world.networks.wave.payoutResponses.pay_out = async (request) =>
    request.reference === bad?.reference
      ? refused
      : paid({ reference: request.reference, amountMinor: 10_000n, currency: 'GMD' });
  await sendDue();
  await world.work();
  assert.deepEqual(await statuses(transfers), ['failed', 'completed', 'completed']);
  assert.equal(world.networks.wave.count('pay_out'), 3);
  // Later ones go together again.
  await world.clock.advance(minuteMs);
  await createSeveral(2);
  await sendDue();
  assert.equal(batches.length, 2);
});

test('a batch that the network accepts later waits as a whole, and each of it can be cancelled', async () => {
  respondToBatches({ state: 'not_accepted', reason: 'network_unavailable' });
  const transfers = await createSeveral(3);
  const [first, ...rest] = transfers;
  assert.ok(first);
  await sendDue();
  assert.equal((await world.transfer(first)).waitingFor, 'network_unavailable');
  await world.cancel(first);
  world.networks.wave.payoutResponses.pay_out = async (request) =>
    paid({ reference: request.reference, amountMinor: 10_000n, currency: 'GMD' });
  await world.workFor(10 * secondMs);
  // One is the trial of the circuit breaker.
  assert.deepEqual(await statuses(transfers), ['cancelled', 'completed', 'completed']);
  assert.equal(
    batches.flatMap(({ payouts }) => payouts).filter(({ reference }) => reference === first.reference).length,
    1,
  );
  assert.equal(rest.length, 2);
});

test('an account that has sent batches goes on with them when its new payouts go alone', async () => {
  respondToBatches({ state: 'unknown', detail: 'no answer' });
  const transfers = await createSeveral(2);
  await sendDue();
  const { capabilities } = world.networks.wave.payouts;
  Object.assign(capabilities, { batchMax: undefined });
  findOnly(new Map());
  await world.workFor(minuteMs);
  assert.deepEqual(sent(), [referencesOf(transfers), referencesOf(transfers)]);
  world.networks.wave.payoutResponses.pay_out = noResponse;
  await createSeveral(2);
  await world.work();
  assert.deepEqual([batches.length, world.networks.wave.count('pay_out')], [2, 2]);
});

test('the transfers of a batch without a response count at the circuit breaker, each as one', async () => {
  respondToBatches({ state: 'unknown', detail: 'no answer' });
  await createSeveral(batchMax);
  await sendDue();
  world.networks.wave.payoutResponses.pay_out = noResponse;
  world.networks.wave.payoutResponses.look_up_payout = noResponse;
  await world.create();
  await world.work();
  const waiting = await world.create();
  await world.work();
  assert.equal((await world.transfer(waiting)).waitingFor, 'network_unavailable');
  assert.equal(world.networks.wave.count('pay_out'), 1);
});

test('what a transfer waits for its network, alone or in a batch, is watched as one call', async () => {
  respondToBatches();
  await createSeveral(2);
  await world.create({ network: 'qmoney' });
  const watched: string[] = [];
  for (const work of await world.claim(1)) {
    await world.jobs.send(work, (send) => {
      watched.push(work.queue);
      return send();
    });
  }
  assert.deepEqual(watched.toSorted(), ['network:qmoney-test:payouts', 'network:wave-test:payouts']);
});
