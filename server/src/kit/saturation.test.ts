import assert from 'node:assert/strict';
import { test } from 'node:test';
import { elapse } from '../../../test/harness/elapse.ts';
import { createSaturationMeter } from './saturation.ts';

// Time for several windows of a second: what this process ran before can fall into the first one.
const longestMs = 10_000;

test('an event loop without rest for a second is saturated, and one that has waited for a second is not', async () => {
  const isSaturated = createSaturationMeter();
  const endsAt = performance.now() + longestMs;
  while (!isSaturated() && performance.now() < endsAt) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isSaturated(), true);
  await elapse(1_100);
  assert.equal(isSaturated(), false);
});
