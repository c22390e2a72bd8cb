import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PublicError } from './public-error.ts';
import { KeyedLimiter } from './keyed-limiter.ts';
import { seededRandom } from './random.ts';

type Class = 'quick' | 'slow' | 'unproven';

interface Scope {
  merchantId: string;
  class: Class;
}

const limits = { total: 20, slow: 6, unproven: 4, perMerchant: 12, perMerchantUnsure: 4 };
const of = (merchantId: string, name: Class): Scope => ({ merchantId, class: name });

/** As deliveries have it: a permit that is not for a quick one counts against more. */
function shares(): KeyedLimiter<Scope> {
  return new KeyedLimiter({
    name: 'shares',
    limitsOf: ({ merchantId, class: name }) => [
      { key: 'all', max: limits.total },
      { key: merchantId, max: limits.perMerchant },
      ...(name === 'quick'
        ? []
        : [
            { key: name, max: limits[name] },
            { key: `${merchantId} unsure`, max: limits.perMerchantUnsure },
          ]),
    ],
  });
}

describe('permits with several limits', () => {
  it('are bounded in all, and for a key', () => {
    const limiter = shares();
    assert.equal(limiter.tryAcquire(of('m1', 'quick'), 8), 8);
    assert.equal(limiter.tryAcquire(of('m1', 'quick'), 8), 4);
    assert.equal(limiter.tryAcquire(of('m1', 'quick'), 8), 0);
    assert.equal(limiter.tryAcquire(of('m2', 'quick'), 10), 8);
    assert.equal(limiter.tryAcquire(of('m3', 'quick')), 0);
    limiter.release(of('m1', 'quick'), 3);
    assert.equal(limiter.tryAcquire(of('m3', 'quick'), 8), 3);
  });

  it('leave room for one class, however many permits the others hold', () => {
    const limiter = shares();
    let acquired = 0;
    for (let merchant = 0; merchant < 10; merchant += 1) {
      acquired += limiter.tryAcquire(of(`slow ${merchant}`, 'slow'), 4);
      acquired += limiter.tryAcquire(of(`new ${merchant}`, 'unproven'), 4);
    }
    assert.equal(acquired, limits.slow + limits.unproven);
    assert.equal(limiter.tryAcquire(of('quick', 'quick'), 8), 8);
  });

  it('of one merchant’s hanging class are few, and none that its other class needs', () => {
    const limiter = shares();
    assert.equal(limiter.tryAcquire(of('m1', 'slow'), 3), 3);
    assert.equal(limiter.tryAcquire(of('m1', 'unproven'), 3), 1);
    assert.equal(limiter.tryAcquire(of('m1', 'slow'), 3), 0);
    assert.equal(limiter.tryAcquire(of('m1', 'quick'), 8), 8);
    assert.equal(limiter.tryAcquire(of('m2', 'slow'), 4), 3);
  });

  it('that are released go to the longest waiting one that may have one, one to each', () => {
    const limiter = shares();
    const granted: string[] = [];
    const wait = (merchantId: string) => limiter.wait(of(merchantId, 'slow'), () => granted.push(merchantId));
    assert.equal(limiter.tryAcquire(of('m1', 'slow'), 4) + limiter.tryAcquire(of('m2', 'slow'), 4), 6);
    wait('m1');
    wait('m3');
    const stopWaiting = wait('m4');
    wait('m5');
    stopWaiting();
    assert.deepEqual([granted, limiter.waiting], [[], 3]);
    limiter.release(of('m2', 'slow'));
    assert.deepEqual(granted, ['m3'], 'the first has as many as a merchant may have');
    assert.equal(limiter.tryAcquire(of('m6', 'slow')), 0, 'nobody gets before those who wait');
    limiter.release(of('m1', 'slow'));
    assert.deepEqual(granted, ['m3', 'm1']);
    limiter.release(of('m1', 'slow'), 4);
    assert.deepEqual(granted, ['m3', 'm1', 'm5']);
    assert.equal(limiter.tryAcquire(of('m6', 'slow'), 4), 3);
  });

  it('of one key delay no other key, however many wait', () => {
    const limiter = shares();
    limiter.tryAcquire(of('m1', 'quick'), 12);
    const granted: string[] = [];
    for (const name of ['first', 'second']) limiter.wait(of('m1', 'quick'), () => granted.push(name));
    assert.equal(limiter.tryAcquire(of('m2', 'quick'), 20), 8);
    limiter.release(of('m2', 'quick'), 8);
    assert.deepEqual(granted, []);
    limiter.release(of('m1', 'quick'), 2);
    assert.deepEqual(granted, ['first', 'second']);
  });
});

const full = 'Too many. Come again.';

const never = (): Promise<void> => assert.fail('it ran');

/** Something that runs until it is told how to end. */
function pending<Result>() {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  return { body: () => promise, resolve, reject };
}

/** Everything that can go on without the test has gone on. */
async function settle(): Promise<void> {
  for (let round = 0; round < 20; round += 1) await Promise.resolve();
}

/** So many at once for each key, and so many that wait for it. */
function perKey(max: number, waitingMax: number): KeyedLimiter<string> {
  const refusal = { code: 'unavailable', message: full } as const;
  return new KeyedLimiter({ name: 'test', limitsOf: (key) => [{ key, max }], waitingMax, refusal });
}

describe('running with a permit', () => {
  it('runs as many of a key at once as it has permits, and the others in order of arrival', async () => {
    const limiter = perKey(2, 10);
    const begun: number[] = [];
    const works = Array.from({ length: 5 }, () => pending<void>());
    const runs = works.map((work, index) =>
      limiter.run('a', () => {
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
    const limiter = perKey(1, 10);
    const [slow, behind] = [pending<void>(), pending<void>()];
    const runs = [limiter.run('a', slow.body), limiter.run('a', behind.body)];
    assert.equal(await limiter.run('b', () => Promise.resolve('done')), 'done');
    slow.resolve();
    behind.resolve();
    await Promise.all(runs);
  });

  it('releases the permit however the body ends, and rethrows its error', async () => {
    const limiter = perKey(1, 10);
    const failing = pending<void>();
    const first = limiter.run('a', failing.body);
    const second = limiter.run('a', () => {
      throw new Error('at once');
    });
    const third = limiter.run('a', () => Promise.resolve(3));
    failing.reject(new Error('later'));
    await assert.rejects(first, /later/);
    await assert.rejects(second, /at once/);
    assert.equal(await third, 3);
    assert.equal(limiter.keysInUse, 0);
  });

  it('refuses without running when too many wait, and accepts again when there is room', async () => {
    const limiter = perKey(1, 2);
    const works = [pending<void>(), pending<void>(), pending<void>()];
    const runs = works.map(({ body }) => limiter.run('a', body));
    const refused = limiter.run('a', () => assert.fail('it ran'));
    await assert.rejects(
      refused,
      (error) =>
        error instanceof PublicError &&
        error.code === 'unavailable' &&
        error.message === full &&
        error.retryAfterSeconds === 1,
    );
    works[0]?.resolve();
    await runs[0];
    const later = limiter.run('a', () => Promise.resolve('later'));
    works[1]?.resolve();
    works[2]?.resolve();
    assert.equal(await later, 'later');
    await Promise.all(runs);
  });

  it('lets nobody who arrives at a release overtake those who wait', async () => {
    const limiter = perKey(1, 10);
    const order: string[] = [];
    const first = pending<void>();
    const arrive = (name: string) => limiter.run('a', async () => void order.push(name));
    const running = limiter.run('a', first.body);
    const waiting = arrive('waiting');
    const overtaking = running.then(() => arrive('overtaking'));
    first.resolve();
    await Promise.all([waiting, overtaking]);
    assert.deepEqual(order, ['waiting', 'overtaking']);
  });

  it('never runs more of a key than it has permits, and keeps no key, whatever fails', async () => {
    const permitsMax = 3;
    const limiter = perKey(permitsMax, 1_000);
    const random = seededRandom('places');
    const underWay = new Map<string, number>();
    let ran = 0;
    const work = async (key: string, ticks: number, fails: boolean): Promise<void> => {
      const count = (underWay.get(key) ?? 0) + 1;
      assert.ok(count <= permitsMax, `${count} at once`);
      underWay.set(key, count);
      for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
      underWay.set(key, (underWay.get(key) ?? 0) - 1);
      ran += 1;
      if (fails) throw new Error('on purpose');
    };
    const runs = Array.from({ length: 500 }, () => {
      const [key = 0, ticks = 0, fate = 0] = random.bytes(3);
      const name = String(key % 4);
      return limiter.run(name, () => work(name, ticks % 7, fate % 3 === 0));
    });
    const outcomes = await Promise.allSettled(runs);
    const failures = outcomes.filter((outcome) => outcome.status === 'rejected');
    assert.ok(failures.every(({ reason }) => (reason as Error).message === 'on purpose'));
    assert.equal(ran, 500);
    assert.equal(limiter.keysInUse, 0);
  });

  it('refuses at once where none may wait, in all and for one key, and counts it', async () => {
    const refusal = { code: 'rate_limited', message: full } as const;
    const limiter = new KeyedLimiter<string>({
      name: 'searches',
      limitsOf: (key) => [
        { key: 'all', max: 2 },
        { key, max: 1 },
      ],
      refusal,
    });
    const held = [pending<void>(), pending<void>()];
    const runs = ['one', 'two'].map((key, index) => limiter.run(key, held[index]?.body ?? never));
    await assert.rejects(limiter.run('one', never), { code: 'rate_limited', message: full });
    await assert.rejects(limiter.run('three', never, 'Not now.'), { message: 'Not now.', retryAfterSeconds: 1 });
    assert.deepEqual([limiter.inUse, limiter.waiting, limiter.refused], [2, 0, 2]);
    for (const { resolve } of held) resolve();
    await Promise.all(runs);
    assert.equal(await limiter.run('one', async () => 'there is room'), 'there is room');
  });
});
