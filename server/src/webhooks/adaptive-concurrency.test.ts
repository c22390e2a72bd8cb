import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AdaptiveConcurrencies, AdaptiveConcurrency, limits } from './adaptive-concurrency.ts';

const quick = { durationMs: 20, answered: true, atLimit: true };
const late = { durationMs: 2_000, answered: true, atLimit: true };
const timeout = { durationMs: 15_000, answered: false, atLimit: true };
const refused = { durationMs: 1, answered: false, atLimit: true };

function after(...notes: (typeof quick)[]): [string, number] {
  const concurrency = new AdaptiveConcurrency();
  for (const note of notes) concurrency.note(note);
  return speedAndLimit(concurrency);
}

function speedAndLimit(concurrency: AdaptiveConcurrency): [string, number] {
  const { speed, limit } = concurrency.at(0);
  return [speed, limit];
}

function times(count: number, note: typeof quick): (typeof quick)[] {
  return Array.from({ length: count }, () => note);
}

describe('the concurrency of an endpoint queue', () => {
  it('is proven by an answer, and a backlog earns more one by one', () => {
    assert.deepEqual(after(), ['unproven', 4]);
    assert.deepEqual(after(quick), ['quick', 5]);
    assert.deepEqual(after(...times(10, { ...quick, atLimit: false })), ['quick', limits.usual]);
    assert.deepEqual(after(...times(50, quick)), ['quick', limits.quickMax]);
  });

  it('is lost by requests that hang: by halves where others are answered, at once where nothing was', () => {
    assert.deepEqual(after(timeout), ['slow', 2]);
    assert.deepEqual(after(...times(50, quick), timeout), ['quick', 16]);
    assert.deepEqual(after(...times(50, quick), ...times(3, timeout)), ['quick', 4]);
    assert.deepEqual(after(...times(50, quick), ...times(4, timeout)), ['slow', 2]);
    assert.deepEqual(after(...times(4, timeout), quick), ['quick', 3]);
  });

  it('leaves an endpoint that answers late what it needs, but as a slow one', () => {
    assert.deepEqual(after(...times(20, late)), ['slow', limits.slowMax]);
    assert.deepEqual(after(...times(50, quick), ...times(3, late)), ['slow', 4]);
  });

  it('does not change by failures that cost nothing', () => {
    assert.deepEqual(after(...times(20, refused)), ['unproven', 4]);
    assert.deepEqual(after(timeout, refused), ['slow', 2]);
  });

  it('falls back to the usual when the backlog is gone', () => {
    const concurrency = new AdaptiveConcurrency();
    for (const note of times(50, quick)) concurrency.note(note);
    concurrency.rest();
    assert.deepEqual(speedAndLimit(concurrency), ['quick', limits.usual]);
  });

  it('is remembered for each queue, the ten thousand that were used last', () => {
    const concurrencies = new AdaptiveConcurrencies();
    concurrencies.of('first').note(quick);
    for (let queue = 0; queue < 9_999; queue += 1) concurrencies.of(`queue ${queue}`);
    assert.equal(concurrencies.of('first').at(0).speed, 'quick');
    for (let queue = 0; queue < 10_000; queue += 1) concurrencies.of(`another ${queue}`);
    assert.equal(concurrencies.of('first').at(0).speed, 'unproven');
  });
});
