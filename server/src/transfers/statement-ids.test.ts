import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { listCases } from '../cases/list-cases.ts';
import { confirmResolution, proposeResolution } from '../cases/resolve-case.ts';
import type { PayoutResponse } from '../networks/contract.ts';
import { applyResponse } from './apply-response.ts';
import { applyStatementLine } from './apply-success.ts';
import { createTransferResolvers } from './resolve-case.ts';
import type { Transfer } from './transfer.ts';
import {
  createTransferWorld,
  noResponse,
  paid,
  processing,
  transactionOf,
  type TransferWorld,
} from './transfer-world.corpus.ts';

let world: TransferWorld;

before(async () => {
  world = await createTransferWorld({ feeMinor: 1_000n, payouts: { statementHasOwnIds: true } });
});

after(async () => {
  await world.verify();
  await world.close();
});

/** A transfer that the network has accepted, with how its statement names the payout. */
async function sentWithLine(): Promise<{ transfer: Transfer; book: (transactionId?: string) => Promise<void> }> {
  const transfer = await world.createSent(processing);
  const book = (transactionId = `S-${transfer.reference}`) =>
    applyStatementLine(world.context, transfer, transactionOf(transfer, { transactionId }));
  return { transfer, book };
}

/** What a look-up that began before the line was booked then reports. */
const reportTo = (transfer: Transfer, response: PayoutResponse) => applyResponse(world.context, transfer, response);

const floatMovements = async (transfer: Transfer): Promise<string[]> =>
  (await world.movements(transfer)).filter((movement) => movement.includes('float:'));

test('a look-up in flight while the statement completes the transfer reports the same payout', async () => {
  const { transfer, book } = await sentWithLine();
  await book();
  const booked = await floatMovements(transfer);
  await reportTo(transfer, paid(transfer));
  await reportTo(transfer, paid(transfer));
  assert.deepEqual(await floatMovements(transfer), booked);
  assert.deepEqual(await world.cases(transfer), []);
  assert.deepEqual(await world.events(transfer), ['transfer.created', 'transfer.succeeded']);
  const { networkTransactionId, networkReference } = await world.transfer(transfer);
  const { transactionId, networkReference: named } = transactionOf(transfer);
  assert.deepEqual([networkTransactionId, networkReference], [transactionId, named]);
});

test('a line of a payout that the API has reported since the comparison is the same payout', async () => {
  const { transfer, book } = await sentWithLine();
  await reportTo(transfer, paid(transfer));
  const booked = await floatMovements(transfer);
  await book();
  assert.deepEqual(await floatMovements(transfer), booked);
  assert.deepEqual(await world.cases(transfer), []);
});

test('a reversal by API of a payout that the statement has booked returns the money once', async () => {
  const { transfer, book } = await sentWithLine();
  const before = await world.balance('payable_available');
  await book();
  const reversal: PayoutResponse = { state: 'reversed', providerTransaction: transactionOf(transfer) };
  await reportTo(transfer, reversal);
  await reportTo(transfer, reversal);
  assert.equal((await world.transfer(transfer)).status, 'reversed');
  assert.equal((await world.balance('payable_available')) - before, 11_000n);
  assert.deepEqual(await world.cases(transfer), ['network_reversal']);
  assert.match(await world.summaryOf(transfer), /The money was returned/);
});

test('another amount, or a second payout of the API, is still a second payout', async () => {
  const { transfer, book } = await sentWithLine();
  await book();
  await reportTo(transfer, paid(transfer, { transactionId: 'T-other-amount', amountMinor: 9_000n }));
  assert.deepEqual(await world.cases(transfer), ['second_success']);
  await reportTo(transfer, paid(transfer));
  await reportTo(transfer, paid(transfer, { transactionId: 'T-second' }));
  assert.deepEqual(await world.cases(transfer), ['second_success', 'second_success']);
});

/** Two operators have found the payout in the statement. */
async function resolveAsPaid(transfer: Transfer, transactionId: string): Promise<void> {
  const found = (await listCases(world.db, 'open', 100, null)).find(({ subjectId }) => subjectId === transfer.id);
  assert.equal(found?.kind, 'outcome_unknown');
  const resolvers = createTransferResolvers(world.context);
  const context = { ...world.context, resolvers, isOperator: () => Promise.resolve(true) };
  const [operatorId, other] = [world.context.newId(), world.context.newId()];
  const evidence = 'The statement of 22 November has it.';
  const reported = { transactionId, amountMinor: transfer.amountMinor };
  await proposeResolution(context, { caseId: found.id, resolution: 'paid', evidence, reported, operatorId });
  await confirmResolution(context, { caseId: found.id, operatorId: other });
}

for (const [name, response] of [
  ['accepted', processing],
  ['never acknowledged', noResponse],
] as const) {
  test(`a payout that was ${name}, and that operators found in the statement, is the one of the API`, async () => {
    const transfer = await world.createSent(response);
    world.networks.wave.payoutResponses.look_up_payout = noResponse;
    await world.workFor(25 * 3_600_000, 1_800_000);
    await resolveAsPaid(transfer, `S-${transfer.reference}`);
    const booked = await floatMovements(transfer);
    await reportTo(transfer, paid(transfer));
    await reportTo(transfer, paid(transfer));
    assert.deepEqual(await floatMovements(transfer), booked);
    assert.deepEqual(await world.cases(transfer), ['outcome_unknown']);
    assert.equal((await world.transfer(transfer)).networkTransactionId, transactionOf(transfer).transactionId);
  });
}

test('the API confirms an id of its own that operators typed, and its second payout is one', async () => {
  const transfer = await world.createSent(processing);
  world.networks.wave.payoutResponses.look_up_payout = noResponse;
  await world.workFor(25 * 3_600_000, 1_800_000);
  await resolveAsPaid(transfer, transactionOf(transfer).transactionId);
  await reportTo(await world.transfer(transfer), paid(transfer));
  assert.equal((await world.transfer(transfer)).networkReference, transactionOf(transfer).networkReference);
  await reportTo(await world.transfer(transfer), paid(transfer, { transactionId: 'T-typed-second' }));
  assert.deepEqual(await world.cases(transfer), ['outcome_unknown', 'second_success']);
});
