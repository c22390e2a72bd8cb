import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from './metrics.ts';

test('a figure that is not known is missing, not 0, with labels or without', async () => {
  const metrics = createMetrics();
  let value: number | null = null;
  const read = (labels: Record<string, string>) => (set: (of: Record<string, string>, to: number) => void) => {
    if (value !== null) set(labels, value);
    return value === -1 ? Promise.reject(new Error('it cannot be read')) : Promise.resolve();
  };
  metrics.gauge('dalasi_plain', 'Without labels.', [], read({}));
  metrics.gauge('dalasi_by_queue', 'With one.', ['queue'], read({ queue: 'mails' }));
  const shown = async () => (await metrics.text()).match(/^dalasi_(?:plain|by_queue).*$/gm);
  assert.equal(await shown(), null);
  value = 5;
  assert.deepEqual(await shown(), ['dalasi_plain 5', 'dalasi_by_queue{queue="mails"} 5']);
  value = -1;
  assert.equal(await shown(), null);
  value = null;
  assert.equal(await shown(), null);
});
