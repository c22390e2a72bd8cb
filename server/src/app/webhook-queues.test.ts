import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, test } from 'node:test';
import { eventually } from '../../../test/harness/eventually.ts';
import { createRestoreHold, insertRestore, releaseRestores } from '../backups/hold.ts';
import type { Database } from '../kit/db.ts';
import { endpointQueueKey } from '../webhooks/delivery.ts';
import { createDeliveryWorld, type DeliveryWorld } from '../webhooks/webhook-world.corpus.ts';
import { createLocalChanges } from './local-changes.corpus.ts';
import { deliveryTopicKind, workerQueues } from './work-queues.ts';
import { whileNotHeld } from '../worker/while-not-held.ts';
import { startWorker } from '../worker/worker.ts';

let world: DeliveryWorld;
beforeEach(async () => {
  world = await createDeliveryWorld();
});
afterEach(() => world.close());

test('an error that ends sending to an endpoint is logged once, however many hints came meanwhile', async () => {
  const open: ServerResponse[] = [];
  const { id } = await world.endpointAt((response) => open.push(response));
  await world.append();
  let isLost = false;
  let claims = 0;
  const db: Database = {
    rows: (statement) => world.db.rows(statement),
    row: async (statement) => {
      if (statement.name !== 'webhook_targets_find') return world.db.row(statement);
      claims += 1;
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
  const changes = createLocalChanges();
  const worker = startWorker({ ...context, changes, queues: workerQueues(context, { webhooks: context }) });
  const key = endpointQueueKey({ merchantId: world.caller.merchantId, endpointId: id });
  await eventually('a request is under way', () => open.length === 1);
  const before = claims;
  for (let hint = 0; hint < 50; hint += 1) changes.notify(`${deliveryTopicKind}:${key}`);
  await eventually('it has tried to claim more', () => claims > before);
  isLost = true;
  changes.notify(`${deliveryTopicKind}:${key}`);
  await eventually('a claim has failed', () => !isLost);
  open[0]?.writeHead(200).end();
  const logged = (): string[] => world.logged.filter((line) => line.includes('the connection was lost'));
  await eventually('it is logged', () => logged().length > 0);
  await worker.stop();
  assert.equal(logged().length, 1);
});

test('a held copy sends no event that it writes, and all of them once it is released', async () => {
  const { db, clock, context } = world;
  const endpoint = await world.endpointAt();
  await db.run(insertRestore({ id: context.newId(), backup: null, restoredAt: clock.now(), restoredTo: null }));
  const hold = createRestoreHold(db, clock);
  const queues = workerQueues(context, { webhooks: context }).map((queue) => whileNotHeld(queue, hold));
  const worker = startWorker({ ...context, changes: createLocalChanges(), queues });
  await worker.drain();
  const ids = [await world.append(), await world.append()];
  await worker.drain();
  assert.deepEqual(endpoint.received(), []);
  assert.deepEqual(
    await Promise.all(ids.map(async (id) => (await world.deliveryOf(id)).attempts)),
    [0n, 0n],
    'no attempt was begun',
  );
  await db.run(releaseRestores(clock.now()));
  await clock.advance(1_000);
  await worker.drain();
  const sent = endpoint.received().map(({ headers }) => headers['webhook-id']);
  assert.deepEqual(sent.toSorted(), ids.toSorted());
  await worker.stop();
});
