import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Queryable } from '../kit/db.ts';
import { createNetworkRegistry } from '../networks/registry.ts';
import { ScriptedNetwork } from '../networks/scripted-network.corpus.ts';
import { insertReceiptOnce } from '../receipts/receipt-store.ts';
import type { Receipt } from '../receipts/receipt.ts';
import { applySuccess } from './apply-success.ts';
import { withLockedPayment } from './change-payment.ts';
import type { Charge } from './charge.ts';
import { payByReceipt } from './match-receipt.ts';
import { lockPaidBy } from './paid-by-transaction.ts';
import { createPaymentWorld, transactionOf, type PaymentWorld } from './payment-world.corpus.ts';

let world: PaymentWorld;

before(async () => {
  world = await createPaymentWorld();
});

after(() => world.close());

test('whether an API has paid is looked for at the accounts that serve the merchant only', async () => {
  const { merchant, clock } = world;
  const stranger = await world.newMerchant();
  const accounts: [string, string | null][] = [
    ['of-all', null],
    ['own', merchant.id],
    ...Array.from({ length: 30 }, (_none, index) => [`other-${index}`, stranger.id] as [string, string]),
  ];
  const networks = createNetworkRegistry(
    accounts.map(([railAccount, merchantId]) => new ScriptedNetwork('wave', { railAccount, merchantId })),
  );
  const now = clock.now();
  const receipt: Receipt = {
    ...{ merchantId: merchant.id, id: world.context.newId(), railAccount: 'till', network: 'wave', currency: 'GMD' },
    ...{ transactionId: 't_1', transactionKey: 'T_1', amountMinor: 100n, payerNumber: null, payerName: null },
    ...{ balanceMinor: null, status: 'unconfirmed', datedAt: now, chargeId: null, createdAt: now, updatedAt: now },
  };
  const queried: unknown[] = [];
  const noting = (tx: Queryable): Queryable => ({
    rows: (statement) => tx.rows(statement),
    run: (statement) => tx.run(statement),
    row: (statement) => {
      if (statement.name === 'provider_transactions_find_owner') queried.push(statement.values[0]);
      return tx.row(statement);
    },
  });
  assert.equal(await world.db.withTransaction((tx) => lockPaidBy(noting(tx), { networks }, receipt)), null);
  assert.deepEqual(queried.toSorted(), ['of-all', 'of-all', 'own', 'own']);
});

/** A payment by receipt and one by API of the same merchant and network, and the receipt of what was paid. */
async function receiptAndApi(transactionId: string): Promise<{ direct: Charge; byApi: Charge; receipt: Receipt }> {
  const { merchant, clock, networks } = world;
  const till = new ScriptedNetwork('wave', { railAccount: 'till', merchantId: merchant.id, shape: 'receipt' });
  Object.assign(world.context, { networks: createNetworkRegistry([till]) });
  const { charge: direct } = await world.create({ network: 'wave' });
  assert.ok(direct.receivedDirectly);
  Object.assign(world.context, { networks: createNetworkRegistry([networks.wave, till]) });
  const now = clock.now();
  const receipt: Receipt = {
    ...{ merchantId: merchant.id, id: world.context.newId(), railAccount: 'till', network: 'wave', currency: 'GMD' },
    ...{ transactionId, transactionKey: transactionId.toUpperCase(), amountMinor: direct.amountPaidMinor },
    ...{ payerNumber: null, payerName: null, balanceMinor: null, status: 'unconfirmed', datedAt: now, chargeId: null },
    ...{ createdAt: now, updatedAt: now },
  };
  await insertReceiptOnce(world.db, receipt);
  const { charge } = await world.create({ network: 'wave' });
  return { direct, byApi: await atApi(charge), receipt };
}

/** A merchant's own number goes first here, so the API's account is written. */
async function atApi({ merchantId, id }: Charge): Promise<Charge> {
  const text = `UPDATE charges SET rail_account = 'rail-wave', received_directly = false WHERE merchant_id = $1 AND id = $2`;
  await world.asOwner(text, [merchantId, id]);
  return world.charge({ merchantId, id });
}

const pay = (charge: Charge, receipt: Receipt): Promise<boolean> =>
  withLockedPayment(world.context, charge, (tx, locked) => payByReceipt(tx, world.context, locked, receipt));

const paidOf = async (charges: readonly Charge[]): Promise<number> =>
  (await Promise.all(charges.map((charge) => world.movements(charge)))).filter(({ length }) => length > 0).length;

test('a success of an API whose transaction has paid by a receipt is not booked, and a case says so', async () => {
  const { direct, byApi, receipt } = await receiptAndApi('t_first');
  assert.equal(await pay(direct, receipt), true);
  // The API writes the id as the network does; the receipt may have it in capitals.
  await applySuccess(world.context, byApi, transactionOf(byApi, { transactionId: 'T_first' }));
  assert.equal(await paidOf([direct, byApi]), 1);
  assert.deepEqual(await world.cases(byApi), ['receipt_reused']);
  assert.equal((await world.charge(byApi)).status, 'pending');
  await world.verify();
});

test('a receipt and an API that report one transaction at one moment pay one payment', async () => {
  await world.openConnections();
  for (let round = 0; round < 10; round += 1) {
    const { direct, byApi, receipt } = await receiptAndApi(`T_RACE${round}`);
    const { transactionId } = receipt;
    await Promise.all([
      pay(direct, receipt),
      applySuccess(world.context, byApi, transactionOf(byApi, { transactionId })),
    ]);
    assert.equal(await paidOf([direct, byApi]), 1, `round ${round}`);
  }
  await world.verify();
});
