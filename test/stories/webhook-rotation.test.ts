import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { addMs } from '../../server/src/kit/clock.ts';
import { DeliveryStory, type StoryService, type Subscriber } from '../harness/delivery-story.ts';
import { effort } from '../harness/effort.ts';
import type { Attempt } from '../harness/verifying-receiver.ts';
import { eventually } from '../harness/eventually.ts';

// In each of four parts. Each arrival triggers the next one: more than fifty a second.
const events = effort({ usual: 60, long: 1_000 });
const inFlightMax = 8;
const hourMs = 60 * 60 * 1_000;

type Part = 'before' | 'while it is rotated' | 'overlap' | 'at its end';

describe('a secret that is rotated under load', () => {
  let story: DeliveryStory;
  let service: StoryService;
  /** Uses the new secret at once; the other receiver when the overlap ends. */
  let eager: Subscriber;
  let tardy: Subscriber;
  let overlapEndsAt = new Date(Number.POSITIVE_INFINITY);
  /** The part in which each customer was created, by the customer's id. */
  const made = new Map<string, Part>();

  before(async () => {
    story = await DeliveryStory.create();
    [eager, tardy] = [await story.subscribe(), await story.subscribe()];
    service = await story.startInProcess('all');
    // Events from before the rotation do not need the new secret.
    eager.respondWith((attempt) => statusFor(attempt, made.get(attempt.objectId) === 'overlap' || isAfter(attempt)));
    tardy.respondWith((attempt) => statusFor(attempt, isAfter(attempt)));
    await load('before', events);
    await load('while it is rotated', events, async () => {
      for (const subscriber of [eager, tardy]) subscriber.secrets.set('second', await rotate(subscriber));
      overlapEndsAt = addMs(story.clock.now(), hourMs);
    });
    await load('overlap', events, () => story.advanceTo(addMs(overlapEndsAt, -1_000)));
    await load('at its end', events, () => story.advanceTo(overlapEndsAt));
    await story.settle();
  });

  after(() => story.close());

  const isAfter = ({ sentAtMs }: Attempt): boolean => sentAtMs >= overlapEndsAt.getTime();

  async function rotate({ endpointId }: Subscriber): Promise<string> {
    const path = `/v1/webhook-endpoints/${endpointId}/rotate-secret`;
    const { status, body, text } = await service.client.post(path, { overlap_hours: 1 });
    assert.equal(status, 200, text);
    return String(body['secret']);
  }

  /** Creates customers, some at a time, and runs an action when half of them exist. */
  async function load(
    part: Part,
    count: number,
    halfWay: () => Promise<void> = () => Promise.resolve(),
  ): Promise<void> {
    let meanwhile: Promise<void> = Promise.resolve();
    for (let number = 1; number <= count; number += 1) {
      await eventually('those before have come', () => made.size - countReceivedByBoth() < inFlightMax);
      if (number === count / 2) meanwhile = halfWay();
      made.set(await story.commit(), part);
    }
    await meanwhile;
    await eventually('all have come', () => countReceivedByBoth() === made.size);
  }

  function countReceivedByBoth(): number {
    return Math.min(eager.receivedObjects.size, tardy.receivedObjects.size);
  }

  test('webhook-signature verifies at every moment with the secret that a receiver has', () => {
    for (const subscriber of [eager, tardy]) {
      assert.deepEqual(
        subscriber.attempts.filter(({ status }) => status !== 204),
        [],
      );
      assert.equal(subscriber.receivedObjects.size, 4 * events);
    }
  });

  test('during the overlap webhook-signature verifies with both secrets', () => {
    for (const { attempts } of [eager, tardy]) {
      const overlapping = attempts.filter((attempt) => made.get(attempt.objectId) === 'overlap' && !isAfter(attempt));
      assert(overlapping.length >= events, 'there were some');
      for (const { standard } of overlapping) assert.deepEqual(standard, ['first', 'second']);
    }
  });

  test('x-service-signature uses the old secret until the overlap ends', () => {
    for (const { attempts } of [eager, tardy]) {
      const [later, earlier] = [attempts.filter(isAfter), attempts.filter((attempt) => !isAfter(attempt))];
      for (const { service: by } of earlier) assert.deepEqual(by, ['first']);
      for (const { service: by } of later) assert.deepEqual(by, ['second']);
    }
  });

  test('no signature uses the old secret after the overlap', () => {
    for (const { attempts } of [eager, tardy]) {
      const later = attempts.filter(isAfter);
      assert(later.length >= events / 2, 'there were some');
      for (const { standard } of later) assert.deepEqual(standard, ['second']);
    }
  });
});

function statusFor({ standard }: Attempt, isOnSecond: boolean): number {
  return standard.includes(isOnSecond ? 'second' : 'first') ? 204 : 401;
}
