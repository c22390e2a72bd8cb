import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { seededRandom } from '../../server/src/kit/random.ts';
import { DeliveryStory, type Subscriber } from '../harness/delivery-story.ts';
import { effort } from '../harness/effort.ts';
import type { Attempt } from '../harness/verifying-receiver.ts';
import { ProcessWorld } from '../harness/process.ts';
import { eventually } from '../harness/eventually.ts';

const events = effort({ usual: 200, long: 10_000 });
// An event has ten attempts: two may die with a worker, and the last one succeeds.
const failuresMax = 7;
const claimEndsMs = 31_000;

describe('a receiver that fails three times in ten, and a worker that is killed twice:', () => {
  let story: DeliveryStory;
  let shop: Subscriber;
  /** The number of requests at each worker's death. */
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
    // The first worker's unsent claims are due again when they end, together with the first retries.
    await story.advance(claimEndsMs);
    await untilAllReceived(shop);
    // The second worker dies during the retries.
    const retriesDueAt = (await story.lastDueAt()) ?? assert.fail('some deliveries are retried');
    const attempts = shop.attempts.length + events / 20;
    // It does not finish them.
    const moving = story.advanceTo(retriesDueAt).catch(() => {});
    await Promise.all([moving, replaceAt(worker, attempts)]);
    await story.settle();
  });

  after(() => story.close());

  async function replaceAt(worker: Awaited<ReturnType<DeliveryStory['start']>>, attempts: number) {
    await eventually(`${attempts} requests have arrived`, () => shop.attempts.length >= attempts);
    await worker.kill();
    await eventually('everything it sent has arrived', () => shop.connections === 0);
    deaths.push(shop.attempts.length);
    return story.start('worker');
  }

  test('all committed events arrive, and no other', async () => {
    const accepted = shop.attempts.filter(isAccepted).map(({ objectId }) => objectId);
    assert.deepEqual([...new Set(accepted)].toSorted(), committed.toSorted());
    assert.deepEqual(await story.countDeliveries(), { delivered: events }, 'the service has recorded it');
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

describe('a healthy receiver, and two workers:', () => {
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

/** Waits until each event arrived at least once; in tenths, so that a slow machine only has to keep going. */
async function untilAllReceived({ receivedObjects }: Subscriber): Promise<void> {
  for (let tenth = 1; tenth <= 10; tenth += 1) {
    const count = (events * tenth) / 10;
    await eventually(`${count} events have arrived`, () => receivedObjects.size >= count);
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

/** Three in ten fail at random, in several ways. */
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
