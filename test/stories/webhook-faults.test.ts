import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { seededRandom } from '../../server/src/kit/random.ts';
import { DeliveryStory } from '../harness/delivery-story.ts';
import type { Subscriber } from '../harness/delivery-story.ts';
import { effort } from '../harness/effort.ts';
import type { Attempt } from '../harness/verifying-receiver.ts';
import { ProcessWorld } from '../harness/process.ts';
import { eventually } from '../harness/eventually.ts';

const events = effort({ usual: 200, long: 10_000 });
// An event has ten attempts. Two may die with the worker, and the last one succeeds.
const failuresMax = 7;
const claimEndsMs = 31_000;

describe('events on their way to a receiver that fails three times in ten, by a worker that is killed twice', () => {
  let story: DeliveryStory;
  let shop: Subscriber;
  /** How many requests had come when a worker had died. */
  const deaths: number[] = [];
  let committed: string[];

  before(async () => {
    story = await DeliveryStory.create(new ProcessWorld());
    shop = await story.subscribe();
    shop.respondWith(failing(seededRandom('thirty percent')));
    let worker = await story.start('worker');
    const commits = commitAll(story);
    worker = await replaceAt(worker, events / 2);
    committed = await commits;
    // What the first one had claimed and not sent comes back when its claim ends; the first retries come with it.
    await story.advance(claimEndsMs);
    await untilAllReceived(shop);
    // The second one dies over what is tried again.
    const retriesDueAt = (await story.lastDueAt()) ?? assert.fail('some are to be tried again');
    const attempts = shop.attempts.length + events / 20;
    // It does not come to the end of that.
    const moving = story.advanceTo(retriesDueAt).catch(() => {});
    await Promise.all([moving, replaceAt(worker, attempts)]);
    await story.settle();
  });

  after(() => story.close());

  async function replaceAt(worker: Awaited<ReturnType<DeliveryStory['start']>>, attempts: number) {
    await eventually(`${attempts} requests have come`, () => shop.attempts.length >= attempts);
    await worker.kill();
    await eventually('all that it sent has come', () => shop.connections === 0);
    deaths.push(shop.attempts.length);
    return story.start('worker');
  }

  test('all committed events arrive, and no other', async () => {
    const accepted = shop.attempts.filter(isAccepted).map(({ objectId }) => objectId);
    assert.deepEqual([...new Set(accepted)].toSorted(), committed.toSorted());
    assert.deepEqual(await story.countDeliveries(), { delivered: events }, 'and the service knows it');
  });

  test('every attempt of an event has the same webhook-id and the same bytes', () => {
    for (const attempts of byObject(shop.attempts)) {
      const same = new Set(attempts.map(({ webhookId, eventId, bodyHash }) => `${webhookId} ${eventId} ${bodyHash}`));
      assert.equal(same.size, 1, [...same].join('\n'));
      assert.equal(attempts[0]?.webhookId, attempts[0]?.eventId);
    }
  });

  test('every signature verifies', () => {
    for (const { standard, service } of shop.attempts) {
      assert.deepEqual({ standard, service }, { standard: ['first'], service: ['first'] });
    }
  });

  test('an accepted event is sent again only after a worker was killed', (context) => {
    const again = byObject(shop.attempts).flatMap((attempts) => {
      const [first = Infinity, ...others] = attempts.filter(isAccepted).map(({ number }) => number);
      return others.map((number) => ({ first, number }));
    });
    for (const { first, number } of again) {
      assert(
        deaths.some((death) => first <= death && death < number),
        `taken as ${first}, it came again as ${number}`,
      );
    }
    context.diagnostic(`${events} events, ${shop.attempts.length} attempts, ${again.length} came again`);
  });
});

describe('events on their way to a receiver that is well, by two workers', () => {
  test('fewer than one event in a hundred arrives twice', async (context) => {
    const story = await DeliveryStory.create(new ProcessWorld());
    try {
      const shop = await story.subscribe();
      await Promise.all([story.start('worker'), story.startInProcess('worker')]);
      const committed = await commitAll(story);
      await untilAllReceived(shop);
      await story.settle();
      const again = shop.attempts.length - events;
      assert.deepEqual([...shop.receivedObjects].toSorted(), committed.toSorted());
      assert(again < events / 100, `${again} of ${events} came again`);
      context.diagnostic(`${again} of ${events} came again`);
    } finally {
      await story.close();
    }
  });
});

/** Each has come once at least. Tenth by tenth: a slow machine may take its time, as long as it goes on. */
async function untilAllReceived({ receivedObjects: heardOf }: Subscriber): Promise<void> {
  for (let tenth = 1; tenth <= 10; tenth += 1) {
    const count = (events * tenth) / 10;
    await eventually(`${count} events have come`, () => heardOf.size >= count);
  }
}

async function commitAll(story: DeliveryStory): Promise<string[]> {
  const ids: string[] = [];
  const commit = async (): Promise<void> => {
    for (let left = events / 4; left > 0; left -= 1) ids.push(await story.commit());
  };
  await Promise.all([commit(), commit(), commit(), commit()]);
  return ids;
}

/** Three in ten fail, by chance, and in several ways. */
function failing(random: ReturnType<typeof seededRandom>): (attempt: Attempt) => number {
  const failed = new Map<string, number>();
  return ({ objectId }) => {
    const [chance = 0, kind = 0] = random.bytes(2);
    const failures = failed.get(objectId) ?? 0;
    if (chance >= 256 * 0.3 || failures === failuresMax) return 204;
    failed.set(objectId, failures + 1);
    return [500, 502, 503, 400, 429, 301][kind % 6] ?? 500;
  };
}

function isAccepted({ status }: Attempt): boolean {
  return status === 204;
}

function byObject(attempts: readonly Attempt[]): Attempt[][] {
  return [...Map.groupBy(attempts, ({ objectId }) => objectId).values()];
}
