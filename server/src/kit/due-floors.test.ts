import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { addMs } from './clock.ts';
import { DueFloors, searchParts } from './due-floors.ts';

const now = new Date('2026-11-27T10:00:00Z');
const start = new Date(0);
const [tenSeconds, minute] = [10_000, 60_000];

let floors: DueFloors;
beforeEach(() => {
  floors = new DueFloors();
});

/** From where a sweep looks that finds this queue. */
function sweepAt(at: Date, { fromStart = false } = {}): Date {
  const search = floors.nextSweep(at);
  assert.equal(search.isWhole, search.from.getTime() === 0);
  assert.deepEqual(floors.noteSweep(search, [{ key: 'queue', fromStart }]), ['queue']);
  return search.from;
}

/** From where a claim looks that returns rows which were due then. */
async function claimAt(at: Date, ...dueAt: Date[]): Promise<Date> {
  let claimedFrom = new Date(Number.NaN);
  await floors.claim('queue', at, {
    rowsFrom: (from) => {
      claimedFrom = from;
      return Promise.resolve(dueAt);
    },
    dueAtOf: (due) => due,
  });
  return claimedFrom;
}

describe('due rows', () => {
  it('are looked for from ten seconds before the last sweep, and the last claimed one', async () => {
    assert.deepEqual(
      [sweepAt(now), await claimAt(now, now, addMs(now, -minute))],
      [start, start],
      'the first look at all',
    );
    const later = addMs(now, 1_000);
    assert.deepEqual(sweepAt(later), addMs(now, -tenSeconds));
    assert.deepEqual(await claimAt(later), addMs(now, -tenSeconds));
    assert.deepEqual(await claimAt(later), addMs(now, -tenSeconds), 'a claim that finds none changes nothing');
  });

  it('of a writer whose clock is behind are found by the next claim', async () => {
    const behind = (ms: number): Date => addMs(now, ms - 2 * minute);
    await claimAt(now, behind(0));
    assert.ok((await claimAt(addMs(now, 500))) <= behind(500));
  });

  it('are all looked for after a pause, and after the clock was set back', async () => {
    sweepAt(now);
    await claimAt(now, now);
    assert.deepEqual(sweepAt(addMs(now, minute)), start);
    assert.deepEqual(await claimAt(addMs(now, minute)), start);
    await claimAt(addMs(now, minute), addMs(now, minute));
    assert.deepEqual(await claimAt(now), start);
    assert.deepEqual(sweepAt(now), start);
  });

  it('of a queue that a sweep has looked at from the start are claimed from the start', async () => {
    sweepAt(now);
    await claimAt(now, now);
    sweepAt(addMs(now, 1_000), { fromStart: true });
    assert.deepEqual(await claimAt(now), start);
  });

  it('of a queue whose claim failed are claimed after the next sweep', async () => {
    sweepAt(now);
    const failing = floors.claim('another', now, {
      rowsFrom: () => Promise.reject(new Error('lost')),
      dueAtOf: () => now,
    });
    await assert.rejects(failing, /lost/);
    assert.deepEqual(floors.noteSweep(floors.nextSweep(now), []), ['another']);
    assert.deepEqual(floors.noteSweep(floors.nextSweep(now), []), []);
  });

  it('of each part are looked for from the start once in as many sweeps as there are parts', () => {
    const parts = Array.from({ length: searchParts }, () => floors.nextSweep(now).part);
    assert.deepEqual(
      parts.toSorted((one, other) => one - other),
      [...Array(searchParts).keys()],
    );
  });
});
