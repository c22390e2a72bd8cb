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

function charge(key: string, times: number): void {
  for (let time = 0; time < times; time += 1) allowances.charge(key);
}

describe('local allowances', () => {
  it('take nothing from whoever only looks', () => {
    for (let time = 0; time < 100; time += 1) assert.deepEqual(allowances.look('a'), { left: 10 });
  });

  it('refuse after the burst, say when to come back, and let the rate through from then on', async () => {
    charge('a', 9);
    assert.deepEqual(allowances.look('a'), { left: 1 });
    charge('a', 1);
    assert.deepEqual(allowances.look('a'), { retryAfterSeconds: 1 });
    await clock.advance(499);
    assert.deepEqual(allowances.look('a'), { retryAfterSeconds: 1 });
    await clock.advance(1);
    assert.deepEqual(allowances.look('a'), { left: 1 });
    await clock.advance(60_000);
    assert.deepEqual(allowances.look('a'), { left: 10 });
  });

  it('count each key for itself', () => {
    charge('a', 10);
    assert.deepEqual(allowances.look('b'), { left: 10 });
  });

  it('make up for what was charged side by side beyond the burst, so that the rate holds', async () => {
    charge('a', 20);
    assert.deepEqual(allowances.look('a'), { retryAfterSeconds: 6 });
    await clock.advance(5_499);
    assert.ok('retryAfterSeconds' in allowances.look('a'));
    await clock.advance(1);
    assert.deepEqual(allowances.look('a'), { left: 1 });
  });

  it('lock nobody out for longer than a minute and a burst', async () => {
    charge('a', 1_000_000);
    assert.deepEqual(allowances.look('a'), { retryAfterSeconds: 61 });
    await clock.advance(60_500);
    assert.deepEqual(allowances.look('a'), { left: 1 });
  });

  it('let everybody in again after a clock that was wrong is set back', async () => {
    await clock.advance(3_600_000);
    charge('a', 10);
    await clock.advance(-3_600_000);
    assert.deepEqual(allowances.look('a'), { left: 10 });
  });

  it('forget whom they charged longest ago when they hold ten thousand, and nobody else', () => {
    charge('first', 10);
    charge('second', 10);
    for (let count = 0; count < 9_998; count += 1) allowances.charge(`filler ${count}`);
    allowances.charge('first');
    allowances.charge('one more');
    assert.ok('retryAfterSeconds' in allowances.look('first'));
    assert.deepEqual(allowances.look('second'), { left: 10 });
  });
});
