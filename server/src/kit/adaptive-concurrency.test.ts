import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AdaptiveConcurrencies, AdaptiveConcurrency } from './adaptive-concurrency.ts';

const limits = { initial: 4, usual: 8, quickMax: 32, slowMax: 8, hangingMin: 2 };

const quick = { durationMs: 20, responded: true, atLimit: true };
const late = { durationMs: 2_000, responded: true, atLimit: true };
const timeout = { durationMs: 15_000, responded: false, atLimit: true };
const refused = { durationMs: 1, responded: false, atLimit: true };

function after(...notes: (typeof quick)[]): [string, number] {
  const concurrency = new AdaptiveConcurrency(limits);
  for (const note of notes) concurrency.note(note);
  return speedAndLimit(concurrency);
}

function speedAndLimit(concurrency: AdaptiveConcurrency): [string, number] {
  const { speed, limit } = concurrency.current(0);
  return [speed, limit];
}

function times(count: number, note: typeof quick): (typeof quick)[] {
  return Array.from({ length: count }, () => note);
}

describe('the concurrency of an endpoint queue', () => {
  it('grows one by one with quick responses, beyond the usual only with a backlog', () => {
    assert.deepEqual(after(), ['unproven', 4]);
    assert.deepEqual(after(quick), ['quick', 5]);
    assert.deepEqual(after(...times(10, { ...quick, atLimit: false })), ['quick', limits.usual]);
    assert.deepEqual(after(...times(50, quick)), ['quick', limits.quickMax]);
  });

  it('is halved by requests that hang, and drops to two where no response came before', () => {
    assert.deepEqual(after(timeout), ['slow', 2]);
    assert.deepEqual(after(...times(50, quick), timeout), ['quick', 16]);
    assert.deepEqual(after(...times(50, quick), ...times(3, timeout)), ['quick', 4]);
    assert.deepEqual(after(...times(50, quick), ...times(4, timeout)), ['slow', 2]);
    assert.deepEqual(after(...times(4, timeout), quick), ['quick', 3]);
  });

  it('lets an endpoint that responds slowly have up to eight requests, as a slow one', () => {
    assert.deepEqual(after(...times(20, late)), ['slow', limits.slowMax]);
    assert.deepEqual(after(...times(50, quick), ...times(3, late)), ['slow', 4]);
  });

  it('does not change with failures that take no time', () => {
    assert.deepEqual(after(...times(20, refused)), ['unproven', 4]);
    assert.deepEqual(after(timeout, refused), ['slow', 2]);
  });

  it('falls back to the usual when the backlog is sent', () => {
    const concurrency = new AdaptiveConcurrency(limits);
    for (const note of times(50, quick)) concurrency.note(note);
    concurrency.endBacklog();
    assert.deepEqual(speedAndLimit(concurrency), ['quick', limits.usual]);
  });

  it('is remembered for the ten thousand most recently used queues', () => {
    const concurrencies = new AdaptiveConcurrencies(limits);
    concurrencies.get('first').note(quick);
    for (let queue = 0; queue < 9_999; queue += 1) concurrencies.get(`queue ${queue}`);
    assert.equal(concurrencies.get('first').current(0).speed, 'quick');
    for (let queue = 0; queue < 10_000; queue += 1) concurrencies.get(`another ${queue}`);
    assert.equal(concurrencies.get('first').current(0).speed, 'unproven');
  });
});
