import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { endBefore } from '../kit/time-or-day.ts';
import { readTimeOption } from '../kit/time-option.ts';
import { readTimeRange } from './time-range.ts';

const times = (sent: { from?: string; to?: string }): (string | undefined)[] => {
  const { from, to } = readTimeRange(sent);
  return [from?.toISOString(), to?.toISOString()];
};

test('a date alone is a whole day, UTC: from its first millisecond to its last', () => {
  assert.deepEqual(times({ from: '2026-11-20', to: '2026-11-20' }), [
    '2026-11-20T00:00:00.000Z',
    '2026-11-20T23:59:59.999Z',
  ]);
  assert.deepEqual(times({ to: '2028-02-29' }), [undefined, '2028-02-29T23:59:59.999Z']);
  assert.equal(endBefore('2026-12-31').toISOString(), '2027-01-01T00:00:00.000Z');
});

test('a time is the moment that it says, in any zone', () => {
  const [from, to] = ['2026-11-20T10:18:00.000Z', '2026-11-20T12:00:00+02:00'];
  assert.deepEqual(times({ from, to }), [from, '2026-11-20T10:00:00.000Z']);
  assert.deepEqual(times({}), [undefined, undefined]);
  assert.equal(endBefore(to).toISOString(), '2026-11-20T10:00:00.000Z');
});

test('an option of a command means the same moments as the API’s from and to', () => {
  const clock = new ManualClock(new Date('2026-11-22T12:00:00.000Z'));
  const read = (text: string, ofDay: 'first' | 'last') =>
    readTimeOption(clock, { option: 'to', text, ofDay }).toISOString();
  for (const text of ['2026-11-20', '2028-02-29', '2026-11-20T10:18:00.000Z', '2026-11-20T12:00:00+02:00']) {
    assert.deepEqual([read(text, 'first'), read(text, 'last')], times({ from: text, to: text }), text);
  }
  assert.equal(read('2026-11-20T10:18Z', 'last'), '2026-11-20T10:18:00.000Z');
  assert.equal(read('15m', 'last'), '2026-11-22T11:45:00.000Z');
  assert.equal(read('3d', 'first'), '2026-11-19T12:00:00.000Z');
});

test('an option that is no time, or names a day that does not exist, is refused with the forms it takes', () => {
  const clock = new ManualClock();
  for (const text of ['noon', '2026-11-20T10:00:00', '2026-13-01', '2026-02-30', '2026-02-30T10:00:00Z', '15', '']) {
    assert.throws(
      () => readTimeOption(clock, { option: 'from', text, ofDay: 'first' }),
      { name: 'UsageError', message: /^--from is a time such as 2026-11-20T10:00:00Z, 2026-11-20 for the whole day/ },
      text,
    );
  }
});
