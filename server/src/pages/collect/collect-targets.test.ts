import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createCollectWorld, type CollectWorld } from '../../links/collect-world.corpus.ts';
import { createNetworkRegistry } from '../../networks/registry.ts';
import { ScriptedNetwork } from '../../networks/scripted-network.corpus.ts';
import { createCheckout } from '../../payments/checkout.ts';
import { createCollectTargets } from './collect-targets.ts';

let world: CollectWorld;

before(async () => {
  world = await createCollectWorld();
});
after(() => world.close());

test('a link offers the networks that take its total, and none before the payer has entered the amount', async () => {
  const networks = createNetworkRegistry([
    new ScriptedNetwork('wave', { amountStepMinor: 100n }),
    new ScriptedNetwork('aps'),
  ]);
  const targets = createCollectTargets({
    ...world.context,
    networks,
    pageLimit: () => Promise.resolve(),
    guessLimit: (_address, lookUp) => lookUp(),
    checkout: createCheckout(world.context),
  });
  const offeredFor = async (amountMinor: bigint | null) => {
    const { token } = await world.newLink({ amountMinor });
    return (await targets.findLink(token))?.model.networks.map(({ id }) => id);
  };
  assert.deepEqual(await offeredFor(45_000n), ['wave', 'aps']);
  assert.deepEqual(await offeredFor(45_050n), ['aps']);
  assert.deepEqual(await offeredFor(null), []);
});
