import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError } from './app-error.ts';
import { PlacesByKey } from './places-by-key.ts';
import { seededRandom } from './random.ts';

const full = 'Too many. Come again.';

/** Something that runs until it is told how to end. */
function pending<Result>() {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  return { body: () => promise, resolve, reject };
}

/** Everything that can go on without the test has gone on. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

describe('places by key', () => {
  it('runs as many of a key at once as it has places, and the others in the order in which they came', async () => {
    const places = new PlacesByKey({ placesMax: 2, waitingMax: 10 });
    const begun: number[] = [];
    const works = Array.from({ length: 5 }, () => pending<void>());
    const runs = works.map((work, index) =>
      places.run('a', full, () => {
        begun.push(index);
        return work.body();
      }),
    );
    await settle();
    assert.deepEqual(begun, [0, 1]);
    works[1]?.resolve();
    await settle();
    assert.deepEqual(begun, [0, 1, 2]);
    works[0]?.resolve();
    works[2]?.resolve();
    await settle();
    assert.deepEqual(begun, [0, 1, 2, 3, 4]);
    works[3]?.resolve();
    works[4]?.resolve();
    await Promise.all(runs);
  });

  it('lets no key wait for another', async () => {
    const places = new PlacesByKey({ placesMax: 1, waitingMax: 10 });
    const [slow, behind] = [pending<void>(), pending<void>()];
    const runs = [places.run('a', full, slow.body), places.run('a', full, behind.body)];
    assert.equal(await places.run('b', full, () => Promise.resolve('done')), 'done');
    slow.resolve();
    behind.resolve();
    await Promise.all(runs);
  });

  it('gives a place back however it was used, and hands the error on', async () => {
    const places = new PlacesByKey({ placesMax: 1, waitingMax: 10 });
    const failing = pending<void>();
    const first = places.run('a', full, failing.body);
    const second = places.run('a', full, () => {
      throw new Error('at once');
    });
    const third = places.run('a', full, () => Promise.resolve(3));
    failing.reject(new Error('later'));
    await assert.rejects(first, /later/);
    await assert.rejects(second, /at once/);
    assert.equal(await third, 3);
    assert.equal(places.keysInUse, 0);
  });

  it('sends away whoever finds too many waiting, runs nothing for them, and takes them when there is room', async () => {
    const places = new PlacesByKey({ placesMax: 1, waitingMax: 2 });
    const works = [pending<void>(), pending<void>(), pending<void>()];
    const runs = works.map(({ body }) => places.run('a', full, body));
    const refused = places.run('a', full, () => assert.fail('it ran'));
    await assert.rejects(
      refused,
      (error) =>
        error instanceof AppError &&
        error.code === 'unavailable' &&
        error.message === full &&
        error.retryAfterSeconds === 1,
    );
    works[0]?.resolve();
    await runs[0];
    const later = places.run('a', full, () => Promise.resolve('later'));
    works[1]?.resolve();
    works[2]?.resolve();
    assert.equal(await later, 'later');
    await Promise.all(runs);
  });

  it('lets nobody who comes as a place is given back get before those who wait', async () => {
    const places = new PlacesByKey({ placesMax: 1, waitingMax: 10 });
    const order: string[] = [];
    const first = pending<void>();
    const arrive = (name: string) => places.run('a', full, async () => void order.push(name));
    const running = places.run('a', full, first.body);
    const waiting = arrive('waiting');
    const overtaking = running.then(() => arrive('overtaking'));
    first.resolve();
    await Promise.all([waiting, overtaking]);
    assert.deepEqual(order, ['waiting', 'overtaking']);
  });

  it('never has more of a key under way than places, and forgets every key, whatever fails in between', async () => {
    const placesMax = 3;
    const places = new PlacesByKey({ placesMax, waitingMax: 1_000 });
    const random = seededRandom('places');
    const underWay = new Map<string, number>();
    let ran = 0;
    const piece = async (key: string, turns: number, fails: boolean): Promise<void> => {
      const count = (underWay.get(key) ?? 0) + 1;
      assert.ok(count <= placesMax, `${count} at once`);
      underWay.set(key, count);
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      underWay.set(key, (underWay.get(key) ?? 0) - 1);
      ran += 1;
      if (fails) throw new Error('on purpose');
    };
    const runs = Array.from({ length: 500 }, () => {
      const [key = 0, turns = 0, fate = 0] = random.bytes(3);
      const name = String(key % 4);
      return places.run(name, full, () => piece(name, turns % 7, fate % 3 === 0));
    });
    const outcomes = await Promise.allSettled(runs);
    const failures = outcomes.filter((outcome) => outcome.status === 'rejected');
    assert.ok(failures.every(({ reason }) => (reason as Error).message === 'on purpose'));
    assert.equal(ran, 500);
    assert.equal(places.keysInUse, 0);
  });
});
