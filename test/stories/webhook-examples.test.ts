import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '../../server/src/kit/clock.ts';
import { rotateSecret } from '../../server/src/webhooks/rotate-secret.ts';
import { createDeliveryWorld, type DeliveryWorld } from '../../server/src/webhooks/webhook-world.corpus.ts';
import { createExampleWorld, availableLanguages } from '../harness/example-receivers.ts';

let world: DeliveryWorld;
const examples = createExampleWorld();

before(async () => {
  world = await createDeliveryWorld();
  // The examples use their own clocks.
  await world.clock.advance(systemClock.now().getTime() - world.clock.now().getTime());
});
after(async () => {
  await examples.close();
  await world.close();
});

test('the service delivers to each example, also while its secret is rotated', async () => {
  const endpointIds: string[] = [];
  for (const language of availableLanguages().present) {
    for (const signature of ['standard', 'service'] as const) {
      const { id, secret } = await world.endpointAt();
      const { url } = await examples.start(language, { secret, signature });
      await world.changeEndpoint(id, { url });
      endpointIds.push(id);
    }
  }
  const deliverToAll = async (record: Record<string, unknown>): Promise<void> => {
    const eventId = await world.append({ record });
    await world.deliver();
    for (const id of endpointIds) assert.equal((await world.deliveryOf(eventId, id)).status, 'delivered');
  };
  await deliverToAll({
    id: 'c1',
    amount: 450.5,
    name: 'Ŋañ "Jóof" <&> 🙂 \u2028',
    large: 9007199254740991,
    tiny: 1e-7,
  });
  for (const id of endpointIds) {
    await world.change((tx) => rotateSecret(tx, world.context, world.caller, { id, overlapHours: 24 }));
  }
  await deliverToAll({ id: 'c2', metadata: { note: 'Jërëjëf '.repeat(1_000) } });
});
