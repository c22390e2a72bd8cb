import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { TimeLimits } from './time-limits.ts';

const limitMs = 100;

function createLimits() {
  const clock = new ManualClock();
  const limits = new TimeLimits<{ timeOut(): void }>(clock, limitMs);
  const timedOut: string[] = [];
  const start = (name: string) => limits.start({ timeOut: () => timedOut.push(name) }, clock.now().getTime());
  return { clock, start, timedOut };
}

describe('a time limit', () => {
  it('is that of each, whenever it began, and those of one millisecond share a timer', async () => {
    const { clock, start, timedOut } = createLimits();
    start('first');
    start('second');
    assert.equal(clock.sleeping, 1);
    await clock.advance(1);
    start('third');
    assert.equal(clock.sleeping, 2);
    await clock.advance(limitMs - 2);
    assert.deepEqual(timedOut, []);
    await clock.advance(1);
    assert.deepEqual(timedOut, ['first', 'second']);
    await clock.advance(1);
    assert.deepEqual(timedOut, ['first', 'second', 'third']);
  });

  it('does not reach what has ended, and has no timer once all of a millisecond have', async () => {
    const { clock, start, timedOut } = createLimits();
    const endFirst = start('first');
    const endSecond = start('second');
    endFirst();
    assert.equal(clock.sleeping, 1);
    endSecond();
    assert.equal(clock.sleeping, 0);
    start('third');
    await clock.advance(limitMs);
    assert.deepEqual(timedOut, ['third']);
  });

  it('is a whole one for what begins at the same time again, after the clock was set back', async () => {
    const { clock, start, timedOut } = createLimits();
    start('first');
    await clock.advance(limitMs);
    await clock.jump(-limitMs);
    start('second');
    await clock.advance(limitMs - 1);
    assert.deepEqual(timedOut, ['first']);
    await clock.advance(1);
    assert.deepEqual(timedOut, ['first', 'second']);
  });
});
