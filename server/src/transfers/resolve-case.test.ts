import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { listCasesOfSubject } from '../cases/list-cases.ts';
import type { CaseKind } from '../cases/case.ts';
import type { ReportedMoney } from '../cases/resolution.ts';
import { confirmResolution, proposeResolution, type ResolveContext } from '../cases/resolve-case.ts';
import { AppError } from '../api/app-error.ts';
import type { PayoutResponse } from '../networks/contract.ts';
import { applyResponse } from './apply-response.ts';
import { createTransferResolvers } from './resolve-case.ts';
import { transferTimeline } from './timeline.ts';
import { transferToWire } from './transfer-wire.ts';
import type { Transfer } from './transfer.ts';
import {
  createTransferWorld,
  noResponse,
  paid,
  transactionOf,
  refused,
  processing,
  type TransferWorld,
} from './transfer-world.corpus.ts';

const hourMs = 60 * 60_000;
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

async function reported(transfer: Transfer, ...responses: PayoutResponse[]): Promise<void> {
  for (const response of responses) await applyResponse(world.context, await world.transfer(transfer), response);
}

async function caseOf(transfer: Transfer, kind: CaseKind): Promise<string> {
  const cases = (await listCasesOfSubject(world.db, transfer.merchantId, transfer.id)).filter(
    (each) => each.kind === kind,
  );
  const found = cases.find(({ status }) => status === 'open') ?? cases[0];
  assert.ok(found, `there is no case ${kind}`);
  return found.id;
}

/** Proposed by one, confirmed by the other. */
async function resolve(transfer: Transfer, kind: CaseKind, resolution: string, money: ReportedMoney | null = null) {
  const caseId = await caseOf(transfer, kind);
  await proposeResolution(context, { caseId, resolution, evidence, reported: money, operatorId: one });
  await confirmResolution(context, { caseId, operatorId: other });
  return world.transfer(transfer);
}

async function unknownTransfer(): Promise<Transfer> {
  const transfer = await world.createSent(processing);
  world.networks.wave.payoutResponses.look_up_payout = noResponse;
  await world.workFor(25 * hourMs, hourMs / 2);
  return transfer;
}

/** The changes of the accounts by a transfer and its resolution together. */
async function moved(body: () => Promise<void>): Promise<Record<string, bigint>> {
  const before = await balances();
  await body();
  const now = await balances();
  const entries = accounts.map((account, index) => [account, (now[index] ?? 0n) - (before[index] ?? 0n)] as const);
  return Object.fromEntries(entries.filter(([, change]) => change !== 0n));
}

const asCompleted = { payable_available: -11_000n, 'float:rail-wave': -10_000n, fees: 1_000n };

test('an unknown outcome that was resolved as paid completes the transfer like any success', async () => {
  const change = await moved(async () => {
    const transfer = await unknownTransfer();
    const money = { transactionId: `known-${transfer.reference}`, amountMinor: 10_000n };
    const done = await resolve(transfer, 'outcome_unknown', 'paid', money);
    assert.deepEqual([done.status, done.review, done.networkTransactionId], ['completed', null, money.transactionId]);
    assert.deepEqual(await world.events(transfer), ['transfer.created', 'transfer.succeeded']);
  });
  assert.deepEqual(change, asCompleted);
});

test('an unknown outcome that was resolved as not paid releases amount and fee', async () => {
  const change = await moved(async () => {
    const transfer = await unknownTransfer();
    assert.equal((await resolve(transfer, 'outcome_unknown', 'not_paid')).status, 'failed');
    assert.deepEqual(await world.events(transfer), ['transfer.created', 'transfer.failed']);
  });
  assert.deepEqual(change, {});
});

test('a resolution is refused when the network has reported the outcome after the proposal', async () => {
  const transfer = await unknownTransfer();
  const caseId = await caseOf(transfer, 'outcome_unknown');
  await proposeResolution(context, { caseId, resolution: 'not_paid', evidence, reported: null, operatorId: one });
  await reported(transfer, paid(transfer));
  await assert.rejects(
    confirmResolution(context, { caseId, operatorId: other }),
    (error) => error instanceof AppError && error.code === 'state_conflict' && /completed by now/.test(error.message),
  );
  assert.equal((await world.transfer(transfer)).status, 'completed');
});

test('a transaction that settled something else cannot be named as the payment', async () => {
  const settled = await world.createSent(processing);
  await reported(settled, paid(settled));
  const transfer = await unknownTransfer();
  const money = { transactionId: `T-${settled.reference}`, amountMinor: 10_000n };
  await assert.rejects(resolve(transfer, 'outcome_unknown', 'paid', money), /settled something else/);
  await resolve(transfer, 'outcome_unknown', 'not_paid');
});

test('a transaction that a refused confirmation names completes its own transfer all the same', async () => {
  const transfer = await unknownTransfer();
  const owner = await world.createSent(processing);
  const caseId = await caseOf(transfer, 'outcome_unknown');
  const money = { transactionId: `T-${owner.reference}`, amountMinor: 10_000n };
  await proposeResolution(context, { caseId, resolution: 'paid', evidence, reported: money, operatorId: one });
  const revoked = { ...context, isOperator: () => Promise.resolve(false) };
  await assert.rejects(confirmResolution(revoked, { caseId, operatorId: other }), /has been revoked/);
  await reported(owner, paid(owner));
  assert.equal((await world.transfer(owner)).status, 'completed');
  assert.deepEqual(await world.cases(owner), []);
  await resolve(transfer, 'outcome_unknown', 'not_paid');
});

for (const [paidMinor, accepted] of [
  [9_000n, { payable_available: -10_000n, 'float:rail-wave': -9_000n, fees: 1_000n }],
  [12_500n, { ...asCompleted, 'float:rail-wave': -12_500n, network_costs: 2_500n }],
] as const) {
  test(`a mismatch of ${paidMinor} can be accepted, and charges at most the requested amount`, async () => {
    const change = await moved(async () => {
      const transfer = await world.createSent(processing);
      await reported(transfer, paid(transfer, { amountMinor: paidMinor }));
      assert.equal((await resolve(transfer, 'amount_mismatch', 'accept')).status, 'completed');
    });
    assert.deepEqual(change, accepted);
  });

  test(`what a network did not pay of a mismatch of ${paidMinor} counts as reversed once that is accepted`, async () => {
    for (const kind of ['amount_mismatch', 'late_success'] as const) {
      const transfer = await world.createSent(kind === 'amount_mismatch' ? processing : refused);
      await reported(transfer, paid(transfer, { amountMinor: paidMinor }));
      const { amountMinor, amountReversedMinor } = await resolve(transfer, kind, 'accept');
      assert.deepEqual([amountMinor, amountReversedMinor], [10_000n, paidMinor < 10_000n ? 1_000n : 0n]);
      assert.equal((await world.events(transfer)).at(-1), 'transfer.succeeded');
      const details = (await transferTimeline(world.db, await world.transfer(transfer))).map(({ detail }) => detail);
      const without = paidMinor < 10_000n ? ' without GMD 10, which the network did not pay, or took back.' : '.';
      assert.ok(details.includes(`The beneficiary has the money${without}`), String(details));
    }
  });

  test(`a mismatch of ${paidMinor} that was reversed leaves no balance`, async () => {
    const change = await moved(async () => {
      const transfer = await world.createSent(processing);
      await reported(transfer, paid(transfer, { amountMinor: paidMinor }));
      assert.equal((await resolve(transfer, 'amount_mismatch', 'return')).status, 'failed');
    });
    assert.deepEqual(change, {});
  });
}

test('another amount that the network has reversed cannot be accepted, only returned', async () => {
  const change = await moved(async () => {
    const transfer = await world.createSent(processing);
    const response = paid(transfer, { amountMinor: 9_000n });
    assert.ok(response.state === 'succeeded');
    await reported(transfer, response, { ...response, state: 'reversed' });
    await assert.rejects(resolve(transfer, 'amount_mismatch', 'accept'), /has reversed what it paid/);
    assert.equal((await resolve(transfer, 'amount_mismatch', 'return')).status, 'failed');
  });
  assert.deepEqual(change, {});
});

test('an accepted success after a failure completes the transfer and books nothing', async () => {
  const transfer = await world.createSent(refused);
  await reported(transfer, paid(transfer));
  const change = await moved(async () => {
    assert.equal((await resolve(transfer, 'late_success', 'accept')).status, 'completed');
  });
  assert.deepEqual(change, {});
  assert.deepEqual(await world.events(transfer), ['transfer.created', 'transfer.failed', 'transfer.succeeded']);
});

test('a recovered success after a failure returns the merchant’s money, once', async () => {
  const change = await moved(async () => {
    const transfer = await world.createSent(refused);
    await reported(transfer, paid(transfer));
    const after = await resolve(transfer, 'late_success', 'recovered');
    assert.deepEqual([after.status, after.review], ['failed', null]);
    await reported(transfer, paid(transfer));
  });
  assert.deepEqual(change, {});
});

test('a recovered second payment ends the loss; a written-off one stays a loss', async () => {
  for (const [resolution, lossMinor] of [
    ['recovered', 0n],
    ['write_off', 10_000n],
  ] as const) {
    const transfer = await world.createSent(processing);
    await reported(transfer, paid(transfer));
    const change = await moved(async () => {
      await reported(transfer, paid(transfer, { transactionId: `again-${transfer.reference}` }));
      assert.equal((await resolve(transfer, 'second_success', resolution)).status, 'completed');
    });
    const loss = { 'float:rail-wave': -lossMinor, network_costs: lossMinor };
    assert.deepEqual(change, lossMinor === 0n ? {} : loss);
  }
});

test('a contradiction is resolved either way: the network was wrong, or it reversed the transfer', async () => {
  for (const [resolution, status, change] of [
    ['acknowledge', 'completed', asCompleted],
    ['reversed', 'reversed', {}],
  ] as const) {
    const booked = await moved(async () => {
      const transfer = await world.createSent(processing);
      await reported(transfer, paid(transfer), refused);
      assert.equal((await resolve(transfer, 'contradictory_outcome', resolution)).status, status);
    });
    assert.deepEqual(booked, change);
  }
});

test('a transfer with an acknowledged reused transaction stays pending without a review', async () => {
  const [settled, transfer] = [await world.createSent(processing), await world.createSent(processing)];
  await reported(settled, paid(settled));
  await reported(transfer, paid(transfer, { transactionId: `T-${settled.reference}` }));
  const after = await resolve(transfer, 'receipt_reused', 'acknowledge');
  assert.deepEqual([after.status, after.review], ['pending', null]);
  await reported(transfer, paid(transfer));
});

test('an acknowledged reversal books nothing', async () => {
  const change = await moved(async () => {
    const transfer = await world.createSent(processing);
    const response = paid(transfer);
    assert.ok(response.state === 'succeeded');
    await reported(transfer, response, { ...response, state: 'reversed' });
    assert.equal((await resolve(transfer, 'network_reversal', 'acknowledge')).status, 'reversed');
  });
  assert.deepEqual(change, {});
});

test('the reversal of an accepted mismatch returns what was taken, to the butut', async () => {
  for (const paidMinor of [9_000n, 12_500n]) {
    const change = await moved(async () => {
      const transfer = await world.createSent(processing);
      const response = paid(transfer, { amountMinor: paidMinor });
      assert.ok(response.state === 'succeeded');
      await reported(transfer, response);
      await resolve(transfer, 'amount_mismatch', 'accept');
      await reported(transfer, { ...response, state: 'reversed' });
      assert.equal((await world.transfer(transfer)).status, 'reversed');
    });
    assert.deepEqual(change, {});
  }
});

test('an accepted late success that is reversed returns the amount, and no fee, as none was charged', async () => {
  const change = await moved(async () => {
    const transfer = await world.createSent(refused);
    const response = paid(transfer);
    assert.ok(response.state === 'succeeded');
    await reported(transfer, response);
    await resolve(transfer, 'late_success', 'accept');
    await reported(transfer, { ...response, state: 'reversed' });
    assert.equal((await world.transfer(transfer)).status, 'reversed');
  });
  assert.deepEqual(change, {});
});

/** A network's report that it reversed a part of what it had paid. */
function partReversed(transfer: Transfer, amountMinor: bigint, reversalId?: string): PayoutResponse {
  return {
    state: 'reversed',
    providerTransaction: transactionOf(transfer, { amountMinor }),
    ...(reversalId && { reversalId }),
  };
}

const partOf = (transfer: Transfer, amountMinor: bigint): ReportedMoney => {
  return { transactionId: transactionOf(transfer).transactionId, amountMinor };
};

test('a reversal of another amount than was paid books nothing and opens a case', async () => {
  const change = await moved(async () => {
    const transfer = await world.createSent(processing);
    await reported(transfer, paid(transfer), partReversed(transfer, 4_000n));
    assert.equal((await resolve(transfer, 'partial_reversal', 'acknowledge')).status, 'completed');
  });
  assert.deepEqual(change, asCompleted);
});

test('a partly reversed transfer credits that part with its share of the fee, and the rest later', async () => {
  const transfer = await world.createSent(processing);
  await reported(transfer, paid(transfer));
  const first = await moved(async () => {
    await reported(transfer, partReversed(transfer, 3_333n), partReversed(transfer, 3_333n));
    assert.deepEqual(await world.cases(transfer), ['partial_reversal'], 'a repeated report opens no second case');
    const part = await resolve(transfer, 'partial_reversal', 'reversed', partOf(transfer, 3_333n));
    assert.deepEqual([part.status, part.amountReversedMinor], ['completed', 3_333n]);
  });
  assert.deepEqual(first, { payable_available: 3_666n, 'float:rail-wave': 3_333n, fees: -333n });
  assert.equal(transferToWire(world.merchant, await world.transfer(transfer))['amount_reversed'], 33.33);
  const details = (await transferTimeline(world.db, await world.transfer(transfer))).map(({ detail }) => detail);
  assert.ok(
    details.includes(
      'The network reversed a part of the transfer. The beneficiary does not have GMD 33.33 of it in total so far.',
    ),
    String(details),
  );
  const rest = await moved(async () => {
    await reported(transfer, partReversed(transfer, 6_667n));
    const done = await resolve(transfer, 'partial_reversal', 'reversed', partOf(transfer, 6_667n));
    assert.equal(done.status, 'reversed');
  });
  assert.deepEqual(rest, { payable_available: 7_334n, 'float:rail-wave': 6_667n, fees: -667n });
  const events = ['transfer.created', 'transfer.succeeded', 'transfer.reversed', 'transfer.reversed'];
  assert.deepEqual(await world.events(transfer), events);
});

test('two equal parts with ids of their own are both booked, and no more than was paid', async () => {
  const transfer = await world.createSent(processing);
  await reported(transfer, paid(transfer));
  const change = await moved(async () => {
    for (const id of ['EV-1', 'EV-2', 'EV-1']) await reported(transfer, partReversed(transfer, 5_000n, id));
    assert.deepEqual(await world.cases(transfer), ['partial_reversal', 'partial_reversal']);
    await resolve(transfer, 'partial_reversal', 'reversed', partOf(transfer, 5_000n));
    const wrong = resolve(transfer, 'partial_reversal', 'reversed', partOf(transfer, 5_001n));
    await assert.rejects(wrong, /can reverse at most GMD 50\.00 of this transfer/);
  });
  assert.deepEqual(change, { payable_available: 5_500n, 'float:rail-wave': 5_000n, fees: -500n });
  const found = (await listCasesOfSubject(world.db, transfer.merchantId, transfer.id)).find(
    ({ status }) => status === 'open',
  );
  assert.ok(found);
  const resolution = 'reversed';
  const proposal = { caseId: found.id, resolution, evidence, reported: partOf(transfer, 5_000n), operatorId: one };
  await proposeResolution(context, proposal);
  await confirmResolution(context, { caseId: found.id, operatorId: other });
  assert.equal((await world.transfer(transfer)).status, 'reversed');
});

test('a reversed part of a late payment returns to its source, and the rest still needs a decision', async () => {
  const transfer = await world.createSent(refused);
  const change = await moved(async () => {
    await reported(transfer, paid(transfer), partReversed(transfer, 4_000n));
    const part = await resolve(transfer, 'partial_reversal', 'reversed', partOf(transfer, 4_000n));
    assert.deepEqual([part.status, part.review, part.amountReversedMinor], ['failed', 'late_success', 4_000n]);
  });
  assert.deepEqual(change, { payable_available: -6_000n, 'float:rail-wave': -6_000n });
  assert.equal((await resolve(transfer, 'late_success', 'recovered')).review, null);
});
