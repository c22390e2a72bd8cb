import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { seededRandom, systemRandom } from './random.ts';

test('a seed gives the same bytes however they are read, and another seed other bytes', () => {
  fc.assert(
    fc.property(fc.string(), fc.array(fc.nat(100), { maxLength: 10 }), (seed, counts) => {
      const random = seededRandom(seed);
      const parts = counts.map((count) => random.bytes(count));
      const whole = seededRandom(seed).bytes(parts.reduce((sum, part) => sum + part.length, 0));
      assert.deepEqual(Buffer.concat(parts), Buffer.from(whole));
      assert.deepEqual(
        parts.map((part) => part.length),
        counts,
      );
      assert.notDeepEqual(seededRandom(`${seed}.`).bytes(16), seededRandom(seed).bytes(16));
    }),
  );
});

test('a seed means the same bytes in every version, so that an old failing seed still fails', () => {
  assert.equal(Buffer.from(seededRandom(1).bytes(8)).toString('hex'), 'd6b5915c46057bcb');
});

test('returned bytes are not changed later', () => {
  const random = seededRandom('kept');
  const first = random.bytes(20);
  const copy = Uint8Array.from(first);
  random.bytes(20).fill(0);
  assert.deepEqual(Uint8Array.from(first), copy);
  assert.deepEqual(random.bytes(0).length, 0);
});

test('both kinds use every byte value about equally often', () => {
  for (const random of [systemRandom, seededRandom('uniform')]) {
    const counts = Array.from({ length: 256 }, () => 0);
    for (const byte of random.bytes(256_000)) counts[byte] = (counts[byte] ?? 0) + 1;
    // 1,000 expected; 200 away is more than six standard deviations.
    for (const count of counts) assert.ok(Math.abs(count - 1_000) < 200, String(count));
  }
});

test('the system’s bytes are never returned twice, however many are requested at once', () => {
  const seen = new Set<string>();
  const counts = [16, 22, 4_090, 4_096, 4_097, 8, 20_000];
  for (let round = 0; round < 200; round += 1) {
    for (const count of counts) {
      const bytes = Buffer.from(systemRandom.bytes(count));
      assert.equal(bytes.length, count);
      seen.add(bytes.toString('base64'));
    }
  }
  assert.equal(seen.size, 200 * counts.length);
});
