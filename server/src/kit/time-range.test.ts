import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readEndBefore, readTimeRange } from './time-range.ts';

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
  assert.equal(readEndBefore('2026-12-31').toISOString(), '2027-01-01T00:00:00.000Z');
});

test('a time is the moment that it says, in any zone', () => {
  const [from, to] = ['2026-11-20T10:18:00.000Z', '2026-11-20T12:00:00+02:00'];
  assert.deepEqual(times({ from, to }), [from, '2026-11-20T10:00:00.000Z']);
  assert.deepEqual(times({}), [undefined, undefined]);
  assert.equal(readEndBefore(to).toISOString(), '2026-11-20T10:00:00.000Z');
});
