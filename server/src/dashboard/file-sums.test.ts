import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openDashboardWorld, type DashboardWorld, type Member } from '../../../test/harness/dashboard-world.ts';
import { SettableClock } from '../../../test/harness/settable-clock.ts';
import { listCases } from '../cases/list-cases.ts';
import type { CaseKind } from '../cases/case.ts';
import { confirmResolution, proposeResolution } from '../cases/resolve-case.ts';
import type { ReportedMoney } from '../cases/resolution.ts';
import { utcDay } from '../kit/clock.ts';
import { formatAmount, parseAmount } from '../kit/money.ts';
import { applyResponse } from '../payments/apply-response.ts';
import type { Charge } from '../payments/charge.ts';
import { reversed, succeeded } from '../payments/payment-world.corpus.ts';
import { createChargeResolvers } from '../payments/resolve-case.ts';
import {
  createRefundWorld,
  paidBack,
  reversedPayout,
  transactionOf,
  type RefundWorld,
} from '../refunds/refund-world.corpus.ts';
import { createRefund } from '../refunds/create-refund.ts';
import type { Figures } from '../reports/figures.ts';
import { readDays } from '../reports/read-report.ts';
import { createTransfer } from '../transfers/create-transfer.ts';
import { createTransferResolvers } from '../transfers/resolve-case.ts';
import { newTransfer } from '../transfers/transfer-world.corpus.ts';
import type { Transfer } from '../transfers/transfer.ts';

let world: RefundWorld;
let dashboard: DashboardWorld;
let owner: Member;
let figures: Figures;

before(async () => {
  world = await createRefundWorld();
  await receiveDirectly();
  await collect();
  await payOut();
  await world.verify();
  const day = utcDay(world.clock.now());
  figures = (await readDays(world.db, world.merchant, { from: day, to: day })).total;
  const { database, merchant } = world;
  // Its pages only: no worker takes up what the test has left open.
  const settings = { ROLE: 'api', DATABASE_URL: database.adminUrl };
  dashboard = await openDashboardWorld({ database, settings, clock: new SettableClock(world.clock.now()) });
  const tenant = { merchant, key: '', endpointId: '', webhookSecret: '' };
  owner = await dashboard.signIn('owner', { business: { test: tenant, live: tenant } });
});
after(async () => {
  await dashboard.stop();
  await world.close();
});

const returnedDirectlyMinor = 3_000n;

/** Payments straight to the merchant: one stays, of one a part is returned, and a statement contradicts the rest of another. */
async function receiveDirectly(): Promise<void> {
  const { db, context, merchant } = world;
  for (const end of ['stays', 'is returned', 'is contradicted']) {
    const { charge } = await world.create({ network: 'aps', amountMinor: 10_000n });
    const text = 'UPDATE charges SET received_directly = true WHERE id = $1';
    await db.run({ name: 'test_received_directly', text, values: [charge.id] });
    await applyResponse(context, charge, succeeded(charge));
    if (end === 'stays') continue;
    const request = { reference: charge.transactionReference, amountMinor: returnedDirectlyMinor / 2n };
    await db.withTransaction((tx) => createRefund(tx, context, merchant, { ...request, isMoneyReturned: true }));
    if (end === 'is contradicted') await applyResponse(context, charge, reversed(charge));
  }
}

/** Payments in every way in which another amount than requested comes or stays. */
async function collect(): Promise<void> {
  const fee = { percentHundredths: 250n, fixedMinor: 0n, minimumMinor: 0n, maximumMinor: null };
  await world.setFee({ ...fee, payer: 'business' });
  const refunded = await world.collect({ amountMinor: 20_000n });
  await world.refundReported(refunded, paidBack, 3_000n);
  const returned = await world.refundReported(refunded, paidBack, 2_000n);
  await world.report(returned, reversedPayout(returned));
  const partly = await world.refundReported(refunded, paidBack, 1_000n);
  await world.report(partly, { state: 'reversed', providerTransaction: transactionOf(partly, { amountMinor: 400n }) });
  await resolve(partly, 'partial_reversal', 'reversed', { transactionId: `T-${partly.reference}`, amountMinor: 400n });
  const less = await world.refundReported(refunded, (refund) => paidOf(refund, 450n), 500n);
  await resolve(less, 'amount_mismatch', 'accept');

  for (const amountMinor of [6_000n, 13_000n]) {
    const { charge } = await world.create({ network: 'aps', amountMinor: 10_000n });
    await applyResponse(world.context, charge, succeeded(charge, { amountMinor }));
    await resolve(charge, 'amount_mismatch', 'accept');
  }
  const { intent, charge: first } = await world.create({ network: 'aps', amountMinor: 7_000n });
  await world.work();
  await world.abandon(intent);
  const second = await world.attempt(intent, 'aps', '7009999');
  for (const charge of [second, first]) await applyResponse(world.context, charge, succeeded(charge));
  await resolve(first, 'second_success', 'accept');
  await world.refundReported(await world.charge(first), paidBack);

  await takeBack(await world.collect({ amountMinor: 8_000n }), 8_000n);
  const part = await world.collect({ amountMinor: 9_000n });
  await takeBack(part, 2_500n);
  const { networkTransactionId } = await world.charge(part);
  const money = { transactionId: networkTransactionId ?? '', amountMinor: 2_500n };
  await resolve(part, 'partial_reversal', 'reversed', money);
}

async function takeBack(charge: Charge, amountMinor: bigint): Promise<void> {
  const transactionId = charge.networkTransactionId ?? '';
  await applyResponse(world.context, charge, reversed(charge, { transactionId, amountMinor }));
}

/** Transfers that arrive whole, in part, or come back. */
async function payOut(): Promise<void> {
  for (const [paidMinor, reversedMinor] of [
    [5_000n, 0n],
    [4_000n, 0n],
    [5_000n, 5_000n],
    [5_000n, 1_500n],
    [4_500n, 500n],
  ] as const) {
    const request = { ...newTransfer, amountMinor: 5_000n };
    const { db, context, merchant } = world;
    const transfer = await db.withTransaction((tx) => createTransfer(tx, context, merchant, request));
    await world.work();
    await world.report(transfer, paidOf(transfer, paidMinor));
    if (paidMinor !== 5_000n) await resolve(transfer, 'amount_mismatch', 'accept');
    if (reversedMinor === 0n) continue;
    const providerTransaction = transactionOf(transfer, { amountMinor: reversedMinor });
    await world.report(transfer, { state: 'reversed', providerTransaction });
    if (reversedMinor === paidMinor) continue;
    const { transactionId, amountMinor } = providerTransaction;
    await resolve(transfer, 'partial_reversal', 'reversed', { transactionId, amountMinor });
  }
}

function paidOf(transfer: Pick<Transfer, 'reference' | 'amountMinor' | 'currency'>, amountMinor: bigint) {
  return { state: 'succeeded', providerTransaction: transactionOf(transfer, { amountMinor }) } as const;
}

/** Two operators resolve the case of this kind about a record. */
async function resolve(
  { id }: { id: string },
  kind: CaseKind,
  resolution: string,
  reported: ReportedMoney | null = null,
): Promise<void> {
  const found = (await listCases(world.db, 'open', 100, null)).find(
    (each) => each.subjectId === id && each.kind === kind,
  );
  assert.ok(found, kind);
  const resolvers = [...createChargeResolvers(world.context), ...createTransferResolvers(world.context)];
  const context = { ...world.context, resolvers, isOperator: () => Promise.resolve(true) };
  const evidence = 'The network’s statement of that day.';
  const operatorId = world.context.newId();
  await proposeResolution(context, { caseId: found.id, resolution, evidence, reported, operatorId });
  await confirmResolution(context, { caseId: found.id, operatorId: world.context.newId() });
}

const addressOf = (path: string): string => `${dashboard.service.url}/dashboard/test/${world.merchant.shortId}/${path}`;

/** What a column of a list's file adds up to, in the rows of these states. */
async function sumsOf(list: string, states?: readonly string[]): Promise<(column: string) => bigint> {
  const text = await (await owner.get(addressOf(`${list}/export/file`))).text();
  const [heading = [], ...rows] = text
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','));
  const counted = rows.filter((row) => states?.includes(row[heading.indexOf('state')] ?? '') ?? true);
  assert.ok(counted.length > 0, list);
  return (column) => counted.reduce((sum, row) => sum + parseAmount(Number(row[heading.indexOf(column)])), 0n);
}

test('the file of payments adds up to what its list shows and the books say was collected and taken back', async () => {
  const sum = await sumsOf('payments');
  assert.equal(sum('paid'), figures.collectedMinor + figures.directMinor);
  for (const path of ['payments', 'payments/export']) {
    const page = await (await owner.get(addressOf(path))).text();
    assert.ok(page.includes(`${formatAmount(sum('paid'))} paid`), path);
  }
  assert.equal(sum('received_directly'), figures.directMinor);
  assert.equal(sum('reversed'), figures.reversedMinor + figures.directBackMinor - returnedDirectlyMinor);
  assert.deepEqual([figures.reversedMinor, figures.directBackMinor], [10_500n, 11_500n]);
});

test('the files of refunds and transfers add up to what the books say left and stayed away', async () => {
  const refunds = await sumsOf('refunds', ['Refunded']);
  const refundedMinor = refunds('amount') - refunds('returned');
  assert.equal(refundedMinor, (await sumsOf('payments'))('refunded'));
  const transfers = await sumsOf('transfers', ['Arrived', 'Came back']);
  const transferredMinor = transfers('amount') - transfers('returned');
  assert.equal(transferredMinor, 5_000n + 4_000n + 3_500n + 4_000n);
  const leftMinor = figures.paidOutMinor + figures.refundedMinor - figures.returnedMinor;
  assert.equal(refundedMinor + transferredMinor, leftMinor + returnedDirectlyMinor);
});
