import assert from 'node:assert/strict';
import { test } from 'node:test';
import { periodOf } from './period.ts';

for (const [schedule, at, period] of [
  ['daily', '2026-11-20T00:00:00.000Z', '2026-11-20'],
  ['daily', '2026-11-20T23:59:59.999Z', '2026-11-20'],
  ['daily', '2026-11-21T00:00:00.000Z', '2026-11-21'],
  ['manual', '2026-11-21T00:00:00.000Z', '2026-11-21'],
  // Monday to Sunday.
  ['weekly', '2026-11-16T00:00:00.000Z', '2026-11-16'],
  ['weekly', '2026-11-20T12:00:00.000Z', '2026-11-16'],
  ['weekly', '2026-11-22T23:59:59.999Z', '2026-11-16'],
  ['weekly', '2026-11-23T00:00:00.000Z', '2026-11-23'],
  ['weekly', '2027-01-01T00:00:00.000Z', '2026-12-28'],
  ['weekly', '2028-03-01T12:00:00.000Z', '2028-02-28'],
] as const) {
  test(`${at} is in the ${schedule} period ${period}`, () => {
    assert.equal(periodOf(schedule, new Date(at)), period);
  });
}
