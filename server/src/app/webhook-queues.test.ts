import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, test } from 'node:test';
import { eventually } from '../../../test/harness/eventually.ts';
import type { ChangeFeed } from '../kit/changes.ts';
import type { Database } from '../kit/db.ts';
import { endpointQueueKey } from '../webhooks/delivery.ts';
import { createDeliveryQueue } from '../webhooks/delivery-queue.ts';
import { createDeliveryWorld } from '../webhooks/webhook-world.corpus.ts';
import type { DeliveryWorld } from '../webhooks/webhook-world.corpus.ts';
import { deliveryTopicKind, webhookQueues } from './work-queues.ts';
import { startWorker } from '../worker/worker.ts';

let world: DeliveryWorld;
beforeEach(async () => {
  world = await createDeliveryWorld();
});
afterEach(() => world.close());

test('what ends the sending to a merchant is said once, however often there was more to send meanwhile', async () => {
  const open: ServerResponse[] = [];
  const { id } = await world.endpointAt((response) => open.push(response));
  await world.dispatch();
  let isLost = false;
  let looks = 0;
  const db: Database = {
    rows: (statement) => world.db.rows(statement),
    row: async (statement) => {
      if (statement.name !== 'webhook_targets_find') return world.db.row(statement);
      looks += 1;
      if (!isLost) return world.db.row(statement);
      isLost = false;
      throw new Error('the connection was lost');
    },
    run: (statement) => world.db.run(statement),
    withTransaction: (body) => world.db.withTransaction(body),
    dedicatedClient: () => world.db.dedicatedClient(),
    waiting: 0,
    close: () => world.db.close(),
  };
  const context = { ...world.context, db };
  const queue = createDeliveryQueue(context);
  const { changes, tell } = localChanges();
  const worker = startWorker({ ...context, changes, queues: webhookQueues(context, queue) });
  await eventually('a request is under way', () => open.length === 1);
  const before = looks;
  for (let hint = 0; hint < 50; hint += 1)
    tell(deliveryTopicKind, endpointQueueKey({ merchantId: world.caller.merchantId, endpointId: id }));
  await eventually('it has looked for more', () => looks > before);
  isLost = true;
  tell(deliveryTopicKind, endpointQueueKey({ merchantId: world.caller.merchantId, endpointId: id }));
  await eventually('a look has failed', () => !isLost);
  open[0]?.writeHead(200).end();
  const said = (): string[] => world.logged.filter((line) => line.includes('the connection was lost'));
  await eventually('it is said', () => said().length > 0);
  await worker.stop();
  assert.equal(said().length, 1);
});

/** Tells listeners of this process at once. */
function localChanges(): { changes: ChangeFeed; tell: (kind: string, which: string) => void } {
  const listeners = new Map<string, (which: string) => void>();
  const changes: ChangeFeed = {
    notify: () => {},
    subscribe: () => () => {},
    subscribeKind: (kind, listener) => {
      listeners.set(kind, listener);
      return () => listeners.delete(kind);
    },
  };
  return { changes, tell: (kind, which) => listeners.get(kind)?.(which) };
}
