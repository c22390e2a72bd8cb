import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Queryable } from '../kit/db.ts';
import { createNetworkRegistry } from '../networks/registry.ts';
import { ScriptedNetwork } from '../networks/scripted-network.corpus.ts';
import type { Receipt } from '../receipts/receipt.ts';
import { lockPaidBy } from './paid-by-transaction.ts';
import { createPaymentWorld, type PaymentWorld } from './payment-world.corpus.ts';

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
