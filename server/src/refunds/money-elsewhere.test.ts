import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually } from '../../../test/harness/eventually.ts';
import { AppError } from '../api/app-error.ts';
import type { NetworkRegistry } from '../networks/registry.ts';
import { createRefundWorld, splitWith, type RefundWorld } from './refund-world.corpus.ts';
import { acceptTransfer } from '../transfers/create-transfer.ts';

let world: RefundWorld;

before(async () => {
  world = await createRefundWorld();
});

after(() => world.close());

/** The business has connected an account of its own for APS; Wave is the operator's. */
function withOwnAccount(networks: NetworkRegistry, merchantId: string): NetworkRegistry {
  const list = [...networks.list(true)].map((connector) => {
    const isOwn = connector.capabilities.network === 'aps';
    return { ...connector, capabilities: { ...connector.capabilities, merchantId: isOwn ? merchantId : null } };
  });
  const find: NetworkRegistry['find'] = ({ railAccount }) =>
    list.find(({ capabilities }) => capabilities.railAccount === railAccount);
  return { ...networks, list: () => list, find };
}

test('two payouts at once never take more from the operator’s account than it collected for the business', async () => {
  const { context, db, merchant } = world;
  const payouts: { subAccountId: string; amountMinor: bigint }[] = [];
  for (const network of ['wave', 'aps']) {
    const subAccountId = await world.newSubAccount(60);
    await world.collect({ network, split: splitWith({ subAccountId }) });
    payouts.push({ subAccountId, amountMinor: 6_000n });
  }
  const live = { ...merchant, testMode: false };
  const own = { ...context, networks: withOwnAccount(context.networks, merchant.id) };
  const accept = (
    payout: { subAccountId: string; amountMinor: bigint } | undefined,
    beforeCommit: () => Promise<void>,
  ): Promise<void> => {
    assert.ok(payout);
    const transfer = world.newPayout(payout.subAccountId, payout.amountMinor);
    return db.withTransaction(async (tx) => {
      const sources = [{ account: `sub:${payout.subAccountId}`, amountMinor: payout.amountMinor }] as const;
      await acceptTransfer(tx, own, live, transfer, sources);
      await beforeCommit();
    });
  };
  const isBlocked = async (): Promise<boolean> => {
    const row = await db.row({
      name: 'test_blocked',
      text: `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' LIMIT 1`,
      values: [],
    });
    return row !== undefined;
  };
  const [accepted, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const first = accept(payouts[0], () => {
    accepted.resolve();
    return released.promise;
  });
  await accepted.promise;
  let hasEnded = false;
  const second = accept(payouts[1], () => Promise.resolve()).finally(() => (hasEnded = true));
  second.catch(() => {});
  await eventually('the second waits or has ended', async () => hasEnded || (await isBlocked()));
  released.resolve();
  await first;
  await assert.rejects(
    second,
    (error) => error instanceof AppError && /can pay out D100\.00 for you/.test(error.message),
  );
});
