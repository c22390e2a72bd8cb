import assert from 'node:assert/strict';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { systemClock } from './clock.ts';
import { ExpiringCache } from './expiring-cache.ts';

const tick = promisify(setImmediate);

/** A cache, and loads of one key that end when the test says so. */
function cacheAndLoads() {
  const cache = new ExpiringCache<string>({ clock: systemClock, entriesMax: 1, lifetimeMs: 60_000 });
  const loads: PromiseWithResolvers<string | undefined>[] = [];
  const load = (): Promise<string | undefined> => {
    loads.push(Promise.withResolvers<string | undefined>());
    return loads.at(-1)?.promise ?? assert.fail();
  };
  const loadAt = (index: number) => loads[index] ?? assert.fail(`there was no load ${index}`);
  return { cache, loads, loadAt, get: () => cache.getShared('key', load) };
}

test('callers that come while a value is loaded share one load', async () => {
  const { loads, loadAt, get } = cacheAndLoads();
  const callers = [get(), get(), get()];
  await tick();
  loadAt(0).resolve('value');
  assert.deepEqual(await Promise.all(callers), ['value', 'value', 'value']);
  assert.equal(await get(), 'value');
  assert.equal(loads.length, 1);
});

for (const [how, end] of [
  ['found nothing', (load: PromiseWithResolvers<string | undefined>) => load.resolve(undefined)],
  ['failed', (load: PromiseWithResolvers<string | undefined>) => load.reject(new Error('away'))],
] as const) {
  test(`a caller that waited for a load that ${how} loads by itself`, async () => {
    const { loadAt, get } = cacheAndLoads();
    const first = get().catch(() => 'failed');
    await tick();
    const second = get();
    end(loadAt(0));
    await first;
    await tick();
    loadAt(1).resolve('value');
    assert.equal(await second, 'value');
  });
}

test('a caller that comes after a change does not share a load that began before it', async () => {
  const { cache, loadAt, get } = cacheAndLoads();
  const before = get();
  await tick();
  cache.forget('key');
  const after = get();
  await tick();
  loadAt(1).resolve('new');
  assert.equal(await after, 'new');
  loadAt(0).resolve('old');
  assert.equal(await before, 'old');
  assert.equal(await get(), 'new');
});
