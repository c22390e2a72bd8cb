import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allowances, LanePace, LanePaces } from './lane-pace.ts';

const quick = { durationMs: 20, answered: true, atLimit: true };
const late = { durationMs: 2_000, answered: true, atLimit: true };
const timeout = { durationMs: 15_000, answered: false, atLimit: true };
const refused = { durationMs: 1, answered: false, atLimit: true };

function after(...notes: (typeof quick)[]): [string, number] {
  const pace = new LanePace();
  for (const note of notes) pace.note(note);
  return [pace.standing, pace.allowance];
}

function times(count: number, note: typeof quick): (typeof quick)[] {
  return Array.from({ length: count }, () => note);
}

describe('the pace of a lane', () => {
  it('is proven by an answer, and a backlog earns more one by one', () => {
    assert.deepEqual(after(), ['unproven', 4]);
    assert.deepEqual(after(quick), ['quick', 5]);
    assert.deepEqual(after(...times(10, { ...quick, atLimit: false })), ['quick', allowances.usual]);
    assert.deepEqual(after(...times(50, quick)), ['quick', allowances.quickMax]);
  });

  it('is lost by requests that hang: by halves where others are answered, at once where nothing was', () => {
    assert.deepEqual(after(timeout), ['slow', 2]);
    assert.deepEqual(after(...times(50, quick), timeout), ['quick', 16]);
    assert.deepEqual(after(...times(50, quick), ...times(3, timeout)), ['quick', 4]);
    assert.deepEqual(after(...times(50, quick), ...times(4, timeout)), ['slow', 2]);
    assert.deepEqual(after(...times(4, timeout), quick), ['quick', 3]);
  });

  it('leaves a lane that answers late what it needs, but as a slow one', () => {
    assert.deepEqual(after(...times(20, late)), ['slow', allowances.slowMax]);
    assert.deepEqual(after(...times(50, quick), ...times(3, late)), ['slow', 4]);
  });

  it('does not change by failures that cost nothing', () => {
    assert.deepEqual(after(...times(20, refused)), ['unproven', 4]);
    assert.deepEqual(after(timeout, refused), ['slow', 2]);
  });

  it('falls back to the usual when the backlog is gone', () => {
    const pace = new LanePace();
    for (const note of times(50, quick)) pace.note(note);
    pace.rest();
    assert.deepEqual([pace.standing, pace.allowance], ['quick', allowances.usual]);
  });

  it('is remembered for each lane, the ten thousand that were used last', () => {
    const paces = new LanePaces();
    paces.of('first').note(quick);
    for (let lane = 0; lane < 9_999; lane += 1) paces.of(`lane ${lane}`);
    assert.equal(paces.of('first').standing, 'quick');
    for (let lane = 0; lane < 10_000; lane += 1) paces.of(`another ${lane}`);
    assert.equal(paces.of('first').standing, 'unproven');
  });
});
