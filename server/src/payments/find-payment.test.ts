import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { applyResponse } from './apply-response.ts';
import { findPayment, findTransaction } from './find-payment.ts';
import { refused, reversed, succeeded } from './payment-world.corpus.ts';
import { createResolveWorld, type ResolveWorld } from './resolve-world.corpus.ts';

let world: ResolveWorld;

before(async () => {
  world = await createResolveWorld();
  await world.openConnections();
});
after(() => world.close());

test('a payment’s transaction is the attempt that paid, even with a later one; until then the newest', async () => {
  const { intent, charge: first } = await world.createSent({ network: 'wave' });
  const reported = async (): Promise<(string | undefined)[]> => {
    const payment = await findPayment(world.db, intent.merchantId, intent.id);
    const transaction = await findTransaction(world.db, intent.merchantId, intent.id);
    assert.equal(payment.charge?.id, transaction?.charge.id, 'both name the same one');
    return [transaction?.charge.id, transaction?.charge.status];
  };
  await applyResponse(world.context, first, refused);
  const second = await world.attempt(intent, 'aps');
  await world.work();
  assert.deepEqual(await reported(), [second.id, 'pending']);
  await applyResponse(world.context, first, succeeded(first));
  assert.deepEqual(await reported(), [first.id, 'completed']);
  await applyResponse(world.context, second, succeeded(second));
  assert.deepEqual(await reported(), [first.id, 'completed'], 'the money that came twice is held, not the payment’s');
  await applyResponse(world.context, first, reversed(first));
  assert.deepEqual(await reported(), [first.id, 'reversed']);
  await world.resolve(await world.caseOf(second, 'second_success'), 'accept');
  assert.deepEqual(await reported(), [second.id, 'completed'], 'its money is still there');
});

test('transactions are found by ids in capitals, also when several are read in one statement', async () => {
  const ids = [(await world.createSent({ network: 'wave' })).charge.id, (await world.createSent()).charge.id];
  const found = await Promise.all(
    ids.map((id) => findTransaction(world.context.db, world.merchant.id, id.toUpperCase())),
  );
  assert.deepEqual(
    found.map((transaction) => transaction?.charge.id),
    ids,
  );
});
