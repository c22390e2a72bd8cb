import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createSearchLimiter, ListReader } from '../api/list-reader.ts';
import { getEvent, listEvents } from './list-events.ts';
import type { EventFilter } from './queries/event-lists.ts';
import { resendEvent } from './resend-event.ts';
import { createDeliveryWorld, type DeliveryWorld } from './webhook-world.corpus.ts';

let world: DeliveryWorld;
before(async () => {
  world = await createDeliveryWorld();
});
after(() => world.close());

const page = { limit: 10, offset: 0, before: null };

test('one endpoint’s missed events are listed even without a free search permit; searches are refused', async () => {
  const { id: endpointId } = await world.endpointAt();
  await world.changeEndpoint(endpointId, { status: 'disabled' });
  const eventId = await world.append();
  const { merchantId } = world.caller;
  const lists = new ListReader(world.db, createSearchLimiter(0));
  const list = (filter: EventFilter) => listEvents({ db: world.db, lists }, merchantId, page, filter);
  const { rows, total } = await list({ endpointId, status: 'kept' });
  assert.deepEqual([rows.map(({ id }) => id), total], [[eventId], 1]);
  assert.equal((await list({ endpointId, status: 'failed', from: new Date(0) })).total, 0);
  const searched = [{ status: 'kept' }, { endpointId }, { endpointId, status: 'delivered' }] as const;
  const narrowed = { endpointId, status: 'kept', kind: 'charge.succeeded' } as const;
  for (const filter of [...searched, narrowed]) {
    await assert.rejects(list(filter), { code: 'rate_limited' }, JSON.stringify(filter));
  }
  await world.retire(endpointId);
});

test('an event shows its newest hundred deliveries, and a resend reaches all enabled endpoints', async () => {
  const { merchantId } = world.caller;
  const oldest = await world.endpointAt();
  const eventId = await world.append();
  await world.changeEndpoint(oldest.id, { enabledEvents: ['charge.failed'] });
  for (let count = 0; count < 101; count += 1) {
    const { id } = await world.endpointAt();
    await world.change((tx) => resendEvent(tx, world.context, merchantId, { id: eventId, endpointId: id }));
    await world.retire(id);
  }
  const { deliveries } = await getEvent(world.db, merchantId, eventId);
  assert.equal(deliveries.length, 100);
  assert.ok(!deliveries.some(({ endpointId }) => endpointId === oldest.id));
  const ids = deliveries.map(({ id }) => id);
  assert.deepEqual(ids, ids.toSorted());
  await world.deliver();
  await world.change((tx) => resendEvent(tx, world.context, merchantId, { id: eventId }));
  await world.deliver();
  assert.equal(oldest.received().length, 2);
});
