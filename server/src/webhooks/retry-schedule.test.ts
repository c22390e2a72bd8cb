import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seededRandom } from '../kit/random.ts';
import { nextAttemptAt, retryDelaysMs } from './retry-schedule.ts';

const endedAt = new Date('2026-11-20T12:00:00.000Z');
const hourMs = 3_600_000;

function delayMs(random: { bytes(count: number): Uint8Array }, attempt: number, retryAfterMs: number | null = null) {
  const next = nextAttemptAt(random, { attempt, endedAt, retryAfterMs });
  return next === null ? null : next.getTime() - endedAt.getTime();
}

describe('the schedule of attempts', () => {
  it('is 5 s, 5 m, 30 m, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h after each other: ten attempts in 75 h 35 m', () => {
    const seconds = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
    assert.deepEqual(
      retryDelaysMs.map((ms) => ms / 1_000),
      seconds,
    );
    assert.equal(
      retryDelaysMs.reduce((sum, ms) => sum + ms, 0),
      (75 * 3_600 + 35 * 60 + 5) * 1_000,
    );
    assert.equal(delayMs(seededRandom('last'), 10), null);
    assert.equal(delayMs(seededRandom('later still'), 99), null);
  });

  it('spreads each wait by up to 15 percent to both sides', () => {
    const extremes = [
      [{ bytes: (count: number) => new Uint8Array(count) }, 0.85],
      [{ bytes: (count: number) => new Uint8Array(count).fill(255) }, 1.15],
    ] as const;
    for (const [index, ms] of retryDelaysMs.entries()) {
      for (const [random, factor] of extremes) {
        assert.equal(delayMs(random, index + 1), Math.round(ms * factor));
      }
    }
    const random = seededRandom('spread');
    const factors = Array.from({ length: 1_000 }, () => (delayMs(random, 3) ?? 0) / (30 * 60_000));
    assert.ok(Math.min(...factors) < 0.86 && Math.max(...factors) > 1.14);
    const mean = factors.reduce((sum, factor) => sum + factor, 0) / factors.length;
    assert.ok(Math.abs(mean - 1) < 0.02, String(mean));
  });

  it('obeys Retry-After up to 24 hours, but is never earlier than the schedule', () => {
    const random = seededRandom('retry after');
    assert.equal(delayMs(random, 1, 120_000), 120_000);
    assert.equal(delayMs(random, 1, 24 * hourMs), 24 * hourMs);
    assert.equal(delayMs(random, 1, 1_000 * hourMs), 24 * hourMs);
    assert.ok((delayMs(random, 2, 0) ?? 0) >= 0.85 * 300_000);
    assert.ok((delayMs(random, 6, 1_000) ?? 0) >= 0.85 * 10 * hourMs);
    assert.equal(delayMs(random, 10, 1_000), null);
  });
});
