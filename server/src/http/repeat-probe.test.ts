import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { repeatProbe } from './repeat-probe.ts';

test('a probe that takes long has the previous result, for fifteen seconds and no longer', async () => {
  const clock = new ManualClock();
  let hanging = Promise.withResolvers<string>();
  let isHanging = false;
  const read = repeatProbe(clock, () => (isHanging ? hanging.promise : Promise.resolve('well')), {
    first: 'unknown',
    overdue: 'overdue',
  });
  /** What a request gets, of which the clock passes the wait. */
  const request = async (): Promise<string> => {
    const response = read();
    await clock.advance(2_000);
    return response;
  };
  assert.equal(await request(), 'well');
  isHanging = true;
  await clock.advance(5_000);
  assert.equal(await request(), 'well');
  await clock.advance(11_000);
  // A probe may also end without a result: the next one does not begin anew.
  hanging.reject(new Error('connection timeout'));
  await assert.rejects(read(), /connection timeout/);
  hanging = Promise.withResolvers();
  assert.equal(await request(), 'overdue');
  isHanging = false;
  hanging.resolve('well');
  await clock.advance(5_000);
  assert.equal(await request(), 'well');
});
