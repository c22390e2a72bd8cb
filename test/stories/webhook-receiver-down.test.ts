import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { DeliveryStory, type Subscriber } from '../harness/delivery-story.ts';
import { eventually } from '../harness/eventually.ts';

const events = 40;
const minuteMs = 60_000;

describe('a receiver that is down while the service is restarted and its secret is rotated', () => {
  let story: DeliveryStory;
  let down: Subscriber;
  let healthy: Subscriber;
  let committed: string[];
  let failedMeanwhile: number;

  before(async () => {
    story = await DeliveryStory.create();
    [down, healthy] = [await story.subscribe(), await story.subscribe()];
    let service = await story.startInProcess('all');
    await down.goOffline();
    committed = await commit();
    await eventually('the other one has them', () => healthy.attempts.length === events);
    // Past the first attempts once more.
    await story.advance(minuteMs);
    await service.stop();
    committed.push(...(await commit()));
    service = await story.startInProcess('all');
    await eventually('the other one has these too', () => healthy.attempts.length === 2 * events);
    const path = `/v1/webhook-endpoints/${down.endpointId}/rotate-secret`;
    const { body } = await service.client.post(path, { overlap_hours: 0 });
    down.secrets.set('second', String(body['secret']));
    committed.push(...(await commit()));
    await story.advance(minuteMs);
    failedMeanwhile = (await story.countDeliveries())['pending'] ?? 0;
    await down.goOnline();
    await story.settle();
  });

  after(() => story.close());

  async function commit(): Promise<string[]> {
    return Promise.all(Array.from({ length: events }, () => story.commit()));
  }

  test('gets every event once it is up again, each once', () => {
    assert.equal(failedMeanwhile, 3 * events, 'it was down for all of it');
    assert.deepEqual(down.attempts.map(({ objectId }) => objectId).toSorted(), committed.toSorted());
  });

  test('gets every event signed with the new secret only, whenever it was created', () => {
    for (const { standard, service } of down.attempts) {
      assert.deepEqual({ standard, service }, { standard: ['second'], service: ['second'] });
    }
  });

  test('delays no other receiver, which gets each event once', () => {
    assert.deepEqual(healthy.attempts.map(({ objectId }) => objectId).toSorted(), committed.toSorted());
  });
});
