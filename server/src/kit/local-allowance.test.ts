import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { LocalAllowances } from './local-allowance.ts';

const settings = { rate: 2, burst: 10 };

let clock: ManualClock;
let allowances: LocalAllowances;

beforeEach(() => {
  clock = new ManualClock();
  allowances = new LocalAllowances(clock, settings);
});

function take(key: string, times: number): void {
  for (let time = 0; time < times; time += 1) allowances.take(key);
}

describe('local allowances', () => {
  it('refuse after the burst with a time to retry, and allow the rate from then on', async () => {
    take('a', 9);
    assert.deepEqual(allowances.take('a'), { left: 0 });
    assert.deepEqual(allowances.take('a'), { retryAfterSeconds: 1 });
    await clock.advance(499);
    assert.deepEqual(allowances.take('a'), { retryAfterSeconds: 1 });
    await clock.advance(1);
    assert.deepEqual(allowances.take('a'), { left: 0 });
    await clock.advance(60_000);
    assert.deepEqual(allowances.take('a'), { left: 9 });
  });

  it('count each key separately', () => {
    take('a', 10);
    assert.deepEqual(allowances.take('b'), { left: 9 });
  });

  it('allow no more than the burst and the rate, however many concurrent requests there are', async () => {
    let served = 0;
    for (let second = 0; second < 60; second += 1) {
      for (let time = 0; time < 100; time += 1) if ('left' in allowances.take('a')) served += 1;
      await clock.advance(1_000);
    }
    assert.equal(served, settings.burst + 59 * settings.rate);
  });

  it('restore what is returned, and never exceed the burst', () => {
    take('a', 10);
    allowances.restore('a');
    assert.deepEqual(allowances.take('a'), { left: 0 });
    for (let time = 0; time < 20; time += 1) allowances.restore('a');
    assert.deepEqual(allowances.take('a'), { left: 9 });
  });

  it('allow requests again after a wrong clock is set back', async () => {
    await clock.advance(3_600_000);
    take('a', 10);
    await clock.advance(-3_600_000);
    assert.deepEqual(allowances.take('a'), { left: 9 });
  });

  it('evict the least recently used of ten thousand keys, and no other', () => {
    take('second', 10);
    take('first', 9);
    for (let count = 0; count < 9_998; count += 1) allowances.take(`filler ${count}`);
    allowances.take('first');
    allowances.take('one more');
    assert.ok('retryAfterSeconds' in allowances.take('first'));
    assert.deepEqual(allowances.take('second'), { left: 9 });
  });
});
