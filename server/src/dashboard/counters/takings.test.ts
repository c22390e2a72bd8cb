import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderHtml } from '../../kit/html.ts';
import { hourChart, type Takings } from './takings.ts';

test('what a counter took by the hour of any day is read from midnight on', () => {
  const hours = [
    { hour: '2026-11-27T09:00:00.000Z', count: 1, sum: 40 },
    { hour: '2026-11-28T00:00:00.000Z', count: 2, sum: 100 },
    { hour: '2026-11-28T09:00:00.000Z', count: 1, sum: 60.5 },
  ];
  const text = renderHtml(hourChart({ by_hour: hours } as Takings));
  const rows = [
    ...text.matchAll(/<th scope="row">([^<]*)<\/th>\s*<td class="number">([^<]*)<\/td><td class="number">([^<]*)</g),
  ];
  assert.equal(rows.length, 24);
  assert.deepEqual(rows[0]?.slice(1), ['00:00', 'D100.00', '2 payments']);
  assert.deepEqual(rows[9]?.slice(1), ['09:00', 'D100.50', '2 payments']);
});
