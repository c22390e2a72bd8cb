import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { listCasesOfSubject } from '../cases/list-cases.ts';
import type { CaseKind } from '../cases/case.ts';
import type { ReportedMoney } from '../cases/resolution.ts';
import { confirmResolution, proposeResolution } from '../cases/resolve-case.ts';
import type { ResolveContext } from '../cases/resolve-case.ts';
import { AppError } from '../kit/app-error.ts';
import type { PayoutResponse } from '../networks/contract.ts';
import { applyResponse } from './apply-response.ts';
import { createTransferResolvers } from './resolve-case.ts';
import { transferTimeline } from './timeline.ts';
import { transferToWire } from './transfer-wire.ts';
import type { Transfer } from './transfer.ts';
import { createTransferWorld, noResponse, paid, transactionOf, refused, taken } from './transfer-world.corpus.ts';
import type { TransferWorld } from './transfer-world.corpus.ts';

const hourMs = 60 * 60_000;
// Two people; who they are is the operators' part.
const [one, other] = ['0190a000-0000-7000-8000-000000000001', '0190a000-0000-7000-8000-000000000002'];
const evidence = 'Call with the network on 21 November, reference 4711.';

let world: TransferWorld;
let context: ResolveContext;

before(async () => {
  world = await createTransferWorld({ feeMinor: 1_000n });
  const resolvers = createTransferResolvers(world.context);
  context = { ...world.context, resolvers, isOperator: () => Promise.resolve(true) };
});

afterEach(() => world.verify());

after(() => world.close());

const accounts = ['payable_available', 'held', 'float:rail-wave', 'fees', 'suspense', 'network_costs'] as const;

async function balances(): Promise<bigint[]> {
  return Promise.all(accounts.map((account) => world.balance(account)));
}

async function reported(order: Transfer, ...responses: PayoutResponse[]): Promise<void> {
  for (const response of responses) await applyResponse(world.context, await world.transfer(order), response);
}

async function caseOf(order: Transfer, kind: CaseKind): Promise<string> {
  const cases = (await listCasesOfSubject(world.db, order.merchantId, order.id)).filter((each) => each.kind === kind);
  const found = cases.find(({ status }) => status === 'open') ?? cases[0];
  assert.ok(found, `there is no case ${kind}`);
  return found.id;
}

/** Proposed by one, confirmed by the other. */
async function resolve(order: Transfer, kind: CaseKind, resolution: string, money: ReportedMoney | null = null) {
  const caseId = await caseOf(order, kind);
  await proposeResolution(context, { caseId, resolution, evidence, reported: money, operatorId: one });
  await confirmResolution(context, { caseId, operatorId: other });
  return world.transfer(order);
}

async function unknownOrder(): Promise<Transfer> {
  const order = await world.createSent(taken);
  world.networks.wave.payoutResponses.look_up_payout = noResponse;
  await world.workFor(25 * hourMs, hourMs / 2);
  return order;
}

/** What an order and its resolution together moved, beginning with the merchant's whole money. */
async function moved(body: () => Promise<void>): Promise<Record<string, bigint>> {
  const before = await balances();
  await body();
  const now = await balances();
  const entries = accounts.map((account, index) => [account, (now[index] ?? 0n) - (before[index] ?? 0n)] as const);
  return Object.fromEntries(entries.filter(([, change]) => change !== 0n));
}

const asCompleted = { payable_available: -11_000n, 'float:rail-wave': -10_000n, fees: 1_000n };

test('an unknown outcome that the network has confirmed as paid is a success like any other', async () => {
  const change = await moved(async () => {
    const order = await unknownOrder();
    const money = { transactionId: `told-${order.reference}`, amountMinor: 10_000n };
    const done = await resolve(order, 'outcome_unknown', 'paid', money);
    assert.deepEqual([done.status, done.review, done.networkTransactionId], ['completed', null, money.transactionId]);
    assert.deepEqual(await world.events(order), ['transfer.created', 'transfer.succeeded']);
  });
  assert.deepEqual(change, asCompleted);
});

test('an unknown outcome that the network has confirmed as not paid gives everything back', async () => {
  const change = await moved(async () => {
    const order = await unknownOrder();
    assert.equal((await resolve(order, 'outcome_unknown', 'not_paid')).status, 'failed');
    assert.deepEqual(await world.events(order), ['transfer.created', 'transfer.failed']);
  });
  assert.deepEqual(change, {});
});

test('what the network said after the proposal is not decided over', async () => {
  const order = await unknownOrder();
  const caseId = await caseOf(order, 'outcome_unknown');
  await proposeResolution(context, { caseId, resolution: 'not_paid', evidence, reported: null, operatorId: one });
  await reported(order, paid(order));
  await assert.rejects(
    confirmResolution(context, { caseId, operatorId: other }),
    (error) => error instanceof AppError && error.code === 'state_conflict' && /completed by now/.test(error.message),
  );
  assert.equal((await world.transfer(order)).status, 'completed');
});

test('a transaction that settled something else cannot be named as the one that paid', async () => {
  const settled = await world.createSent(taken);
  await reported(settled, paid(settled));
  const order = await unknownOrder();
  const money = { transactionId: `T-${settled.reference}`, amountMinor: 10_000n };
  await assert.rejects(resolve(order, 'outcome_unknown', 'paid', money), /settled something else/);
  await resolve(order, 'outcome_unknown', 'not_paid');
});

for (const [paidMinor, accepted] of [
  [9_000n, { payable_available: -10_000n, 'float:rail-wave': -9_000n, fees: 1_000n }],
  [12_500n, { ...asCompleted, 'float:rail-wave': -12_500n, network_costs: 2_500n }],
] as const) {
  test(`a mismatch of ${paidMinor} can be accepted, and charges at most the requested amount`, async () => {
    const change = await moved(async () => {
      const order = await world.createSent(taken);
      await reported(order, paid(order, { amountMinor: paidMinor }));
      assert.equal((await resolve(order, 'amount_mismatch', 'accept')).status, 'completed');
    });
    assert.deepEqual(change, accepted);
  });

  test(`a mismatch of ${paidMinor} that was reversed leaves no balance`, async () => {
    const change = await moved(async () => {
      const order = await world.createSent(taken);
      await reported(order, paid(order, { amountMinor: paidMinor }));
      assert.equal((await resolve(order, 'amount_mismatch', 'return')).status, 'failed');
    });
    assert.deepEqual(change, {});
  });
}

test('a success after a failure can be accepted: the transfer is completed, and nothing more is booked', async () => {
  const order = await world.createSent(refused);
  await reported(order, paid(order));
  const change = await moved(async () => {
    assert.equal((await resolve(order, 'late_success', 'accept')).status, 'completed');
  });
  assert.deepEqual(change, {});
  assert.deepEqual(await world.events(order), ['transfer.created', 'transfer.failed', 'transfer.succeeded']);
});

test('a success after a failure that was recovered is the merchant’s money again, once', async () => {
  const change = await moved(async () => {
    const order = await world.createSent(refused);
    await reported(order, paid(order));
    const after = await resolve(order, 'late_success', 'recovered');
    assert.deepEqual([after.status, after.review], ['failed', null]);
    await reported(order, paid(order));
  });
  assert.deepEqual(change, {});
});

test('a second payment that was recovered is no loss any more; one that is written off stays one', async () => {
  for (const [resolution, lossMinor] of [
    ['recovered', 0n],
    ['write_off', 10_000n],
  ] as const) {
    const order = await world.createSent(taken);
    await reported(order, paid(order));
    const change = await moved(async () => {
      await reported(order, paid(order, { transactionId: `again-${order.reference}` }));
      assert.equal((await resolve(order, 'second_success', resolution)).status, 'completed');
    });
    const loss = { 'float:rail-wave': -lossMinor, network_costs: lossMinor };
    assert.deepEqual(change, lossMinor === 0n ? {} : loss);
  }
});

test('a contradiction is cleared up either way: the network was wrong, or it took the money back', async () => {
  for (const [resolution, status, change] of [
    ['acknowledge', 'completed', asCompleted],
    ['reversed', 'reversed', {}],
  ] as const) {
    const booked = await moved(async () => {
      const order = await world.createSent(taken);
      await reported(order, paid(order), refused);
      assert.equal((await resolve(order, 'contradictory_outcome', resolution)).status, status);
    });
    assert.deepEqual(booked, change);
  }
});

test('a transfer whose transaction was somebody else’s goes on waiting without a review', async () => {
  const [settled, order] = [await world.createSent(taken), await world.createSent(taken)];
  await reported(settled, paid(settled));
  await reported(order, paid(order, { transactionId: `T-${settled.reference}` }));
  const after = await resolve(order, 'receipt_reused', 'acknowledge');
  assert.deepEqual([after.status, after.review], ['pending', null]);
  await reported(order, paid(order));
});

test('a reversal is acknowledged without another entry', async () => {
  const change = await moved(async () => {
    const order = await world.createSent(taken);
    const response = paid(order);
    assert.ok(response.state === 'succeeded');
    await reported(order, response, { ...response, state: 'reversed' });
    assert.equal((await resolve(order, 'network_reversal', 'acknowledge')).status, 'reversed');
  });
  assert.deepEqual(change, {});
});

test('the reversal of a payment whose other amount was accepted gives back what was taken, to the butut', async () => {
  for (const paidMinor of [9_000n, 12_500n]) {
    const change = await moved(async () => {
      const order = await world.createSent(taken);
      const response = paid(order, { amountMinor: paidMinor });
      assert.ok(response.state === 'succeeded');
      await reported(order, response);
      await resolve(order, 'amount_mismatch', 'accept');
      await reported(order, { ...response, state: 'reversed' });
      assert.equal((await world.transfer(order)).status, 'reversed');
    });
    assert.deepEqual(change, {});
  }
});

test('an accepted late success that is reversed returns the amount, and no fee, as none was charged', async () => {
  const change = await moved(async () => {
    const order = await world.createSent(refused);
    const response = paid(order);
    assert.ok(response.state === 'succeeded');
    await reported(order, response);
    await resolve(order, 'late_success', 'accept');
    await reported(order, { ...response, state: 'reversed' });
    assert.equal((await world.transfer(order)).status, 'reversed');
  });
  assert.deepEqual(change, {});
});

/** A network's report that it gave back a part of what it had paid. */
function partBack(order: Transfer, amountMinor: bigint, reversalId?: string): PayoutResponse {
  return {
    state: 'reversed',
    providerTransaction: transactionOf(order, { amountMinor }),
    ...(reversalId && { reversalId }),
  };
}

const partOf = (order: Transfer, amountMinor: bigint): ReportedMoney => {
  return { transactionId: transactionOf(order).transactionId, amountMinor };
};

test('a reversal of another amount than was paid books nothing; a person has to look', async () => {
  const change = await moved(async () => {
    const order = await world.createSent(taken);
    await reported(order, paid(order), partBack(order, 4_000n));
    assert.equal((await resolve(order, 'partial_reversal', 'acknowledge')).status, 'completed');
  });
  assert.deepEqual(change, asCompleted);
});

test('a partly reversed transfer credits that part with its share of the fee, and the rest later', async () => {
  const order = await world.createSent(taken);
  await reported(order, paid(order));
  const first = await moved(async () => {
    await reported(order, partBack(order, 3_333n), partBack(order, 3_333n));
    assert.deepEqual(await world.cases(order), ['partial_reversal'], 'told twice it is one case');
    const part = await resolve(order, 'partial_reversal', 'reversed', partOf(order, 3_333n));
    assert.deepEqual([part.status, part.amountReversedMinor], ['completed', 3_333n]);
  });
  assert.deepEqual(first, { payable_available: 3_666n, 'float:rail-wave': 3_333n, fees: -333n });
  assert.equal(transferToWire(world.merchant, await world.transfer(order))['amount_reversed'], 33.33);
  const told3 = (await transferTimeline(world.db, await world.transfer(order))).map(({ detail }) => detail);
  assert.ok(told3.includes('The network gave a part of the money back; that makes GMD 33.33 so far.'), String(told3));
  const rest = await moved(async () => {
    await reported(order, partBack(order, 6_667n));
    const done = await resolve(order, 'partial_reversal', 'reversed', partOf(order, 6_667n));
    assert.equal(done.status, 'reversed');
  });
  assert.deepEqual(rest, { payable_available: 7_334n, 'float:rail-wave': 6_667n, fees: -667n });
  const events = ['transfer.created', 'transfer.succeeded', 'transfer.reversed', 'transfer.reversed'];
  assert.deepEqual(await world.events(order), events);
});

test('two equal parts of a payout with ids of their own are both booked, and no more than was paid', async () => {
  const order = await world.createSent(taken);
  await reported(order, paid(order));
  const change = await moved(async () => {
    for (const id of ['EV-1', 'EV-2', 'EV-1']) await reported(order, partBack(order, 5_000n, id));
    assert.deepEqual(await world.cases(order), ['partial_reversal', 'partial_reversal']);
    await resolve(order, 'partial_reversal', 'reversed', partOf(order, 5_000n));
    const wrong = resolve(order, 'partial_reversal', 'reversed', partOf(order, 5_001n));
    await assert.rejects(wrong, /has only GMD 50\.00 of this transfer out/);
  });
  assert.deepEqual(change, { payable_available: 5_500n, 'float:rail-wave': 5_000n, fees: -500n });
  const found = (await listCasesOfSubject(world.db, order.merchantId, order.id)).find(
    ({ status }) => status === 'open',
  );
  assert.ok(found);
  const resolution = 'reversed';
  const proposal = { caseId: found.id, resolution, evidence, reported: partOf(order, 5_000n), operatorId: one };
  await proposeResolution(context, proposal);
  await confirmResolution(context, { caseId: found.id, operatorId: other });
  assert.equal((await world.transfer(order)).status, 'reversed');
});

test('a part of what was paid too late is given back to whoever gave it, and the rest stays to be decided', async () => {
  const order = await world.createSent(refused);
  const change = await moved(async () => {
    await reported(order, paid(order), partBack(order, 4_000n));
    const part = await resolve(order, 'partial_reversal', 'reversed', partOf(order, 4_000n));
    assert.deepEqual([part.status, part.review, part.amountReversedMinor], ['failed', 'late_success', 4_000n]);
  });
  assert.deepEqual(change, { payable_available: -6_000n, 'float:rail-wave': -6_000n });
  assert.equal((await resolve(order, 'late_success', 'recovered')).review, null);
});
