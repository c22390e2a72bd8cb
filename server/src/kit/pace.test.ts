import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { SettableClock } from '../../../test/harness/settable-clock.ts';
import { addMs } from './clock.ts';
import { Pace } from './pace.ts';
import { PublicError } from './public-error.ts';

const late = { count: 2, lateMs: 5_000, isOwnDelay: true };

let clock: SettableClock;
let pace: Pace;
let isSaturated: boolean;
let letOn: string[];

beforeEach(() => {
  clock = new SettableClock(new Date('2026-11-27T12:00:00Z'));
  isSaturated = false;
  const limits = { lateAfterMs: 5_000, waitingMax: 3, message: 'Too many wait.' };
  pace = new Pace({ name: 'work', clock, ...limits, isSaturated: () => isSaturated });
  letOn = [];
});

/** Those who come in turn, each by its name. Returns which of all so far were let on. */
async function come(key: string, ...names: string[]): Promise<string[]> {
  for (const name of names) {
    // One that is refused is not let on.
    void pace.run(key, async () => letOn.push(name)).catch(() => {});
  }
  return settle();
}

async function settle(): Promise<string[]> {
  for (let tick = 0; tick < 20; tick += 1) await Promise.resolve();
  return letOn;
}

describe('those who add to work', () => {
  it('go on at once while it is not late', async () => {
    pace.noteClaim('a', { ...late, lateMs: 4_999 });
    assert.deepEqual(await come('a', '1', '2', '3', '4', '5'), ['1', '2', '3', '4', '5']);
  });

  it('go on as fast as it is claimed while it is late, in the order in which they came', async () => {
    pace.noteClaim('a', late);
    assert.deepEqual(await come('a', '1', '2', '3', '4', '5'), ['1', '2']);
    pace.noteClaim('a', late);
    assert.deepEqual(await settle(), ['1', '2', '3', '4']);
    pace.noteClaim('a', late);
    assert.deepEqual(await settle(), ['1', '2', '3', '4', '5']);
    assert.deepEqual(await come('a', '6', '7'), ['1', '2', '3', '4', '5', '6']);
  });

  it('go on as fast as it is claimed too where calls make it late while the process is at its limit', async () => {
    const called = { ...late, isOwnDelay: false };
    pace.noteClaim('a', called);
    assert.deepEqual(await come('a', '1', '2', '3'), ['1', '2', '3']);
    isSaturated = true;
    pace.noteClaim('a', called);
    assert.deepEqual(await come('a', '4', '5', '6'), ['1', '2', '3', '4', '5']);
  });

  it('do not make up for what was claimed while nobody came', async () => {
    for (let claim = 0; claim < 10; claim += 1) pace.noteClaim('a', late);
    assert.deepEqual(await come('a', '1', '2', '3'), ['1', '2']);
  });

  it('wait for the work of their own key only', async () => {
    pace.noteClaim('a', { ...late, count: 1 });
    assert.deepEqual(await come('a', 'first', 'waits'), ['first']);
    assert.deepEqual(await come('b', 'another'), ['first', 'another']);
  });

  it('do not wait for work that is late because of whom the process calls', async () => {
    pace.noteClaim('a', { ...late, isOwnDelay: false });
    assert.deepEqual(await come('a', '1', '2', '3'), ['1', '2', '3']);
  });

  it('go on when nothing late was claimed for two seconds, or the clock was set back', async () => {
    for (const elapsedMs of [2_000, -1]) {
      letOn = [];
      pace.noteClaim('a', { ...late, count: 1 });
      await come('a', '1', '2');
      pace.expire();
      assert.deepEqual(await settle(), ['1']);
      clock.set(addMs(clock.now(), elapsedMs));
      pace.expire();
      assert.deepEqual(await settle(), ['1', '2']);
      assert.deepEqual(await come('a', '3', '4'), ['1', '2', '3', '4']);
    }
  });

  it('go on after thirty seconds without a late claim in a process at its limit', async () => {
    isSaturated = true;
    pace.noteClaim('a', { ...late, count: 1 });
    await come('a', '1');
    clock.set(addMs(clock.now(), 29_999));
    await come('a', '2');
    pace.expire();
    assert.deepEqual(await settle(), ['1']);
    clock.set(addMs(clock.now(), 1));
    pace.expire();
    assert.deepEqual(await settle(), ['1', '2']);
  });

  it('are refused with a time to come again when too many wait', async () => {
    pace.noteClaim('a', { ...late, count: 1 });
    await come('a', '1', '2', '3', '4');
    await assert.rejects(
      pace.run('a', () => assert.fail('it was refused')),
      (error) => error instanceof PublicError && error.code === 'unavailable' && error.retryAfterSeconds === 1,
    );
    assert.deepEqual([pace.waiting, pace.refused, await settle()], [3, 1, ['1']]);
  });

  it('are refused when they have waited for two seconds and the work is still late', async () => {
    pace.noteClaim('a', { ...late, count: 1 });
    await come('a', '1', '2', '3');
    clock.set(addMs(clock.now(), 1_999));
    pace.noteClaim('a', { ...late, count: 1 });
    await come('a', '4');
    pace.expire();
    assert.deepEqual([pace.waiting, pace.refused, letOn], [2, 0, ['1', '2']]);
    clock.set(addMs(clock.now(), 1));
    pace.expire();
    assert.deepEqual([pace.waiting, pace.refused, await settle()], [1, 1, ['1', '2']]);
  });

  it('all go on when the process ends, and nobody waits from then on', async () => {
    pace.noteClaim('a', late);
    await come('a', '1', '2', '3');
    pace.end();
    assert.deepEqual(await settle(), ['1', '2', '3']);
    pace.noteClaim('a', late);
    assert.deepEqual(await come('a', '4', '5', '6'), ['1', '2', '3', '4', '5', '6']);
  });
});
