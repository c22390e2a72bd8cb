import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from './clock.ts';
import { firstIdAt, isUuid, stableUuid, uuidV7 } from './ids.ts';
import { seededRandom, systemRandom } from './random.ts';

interface SettableClock extends Clock {
  ms: number;
}

function settableClock(ms: number): SettableClock {
  const clock = { ms, now: () => new Date(clock.ms), sleep: () => Promise.resolve() };
  return clock;
}

const start = Date.UTC(2026, 10, 20, 10, 30);

test('an id is a UUID of version 7 that carries the time of its clock', () => {
  const id = uuidV7(settableClock(start), systemRandom);
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(Number.parseInt(id.replace('-', '').slice(0, 12), 16), start);
  assert.ok(isUuid(id));
});

test('ids of one clock sort in the order they were made, within a millisecond and when it is set back', () => {
  const clock = settableClock(start);
  const random = seededRandom('order');
  const ids: string[] = [];
  for (const shiftMs of [0, 0, 1, -1, 0, 5, -3_600_000, 3_600_000]) {
    clock.ms += shiftMs;
    for (let made = 0; made < 2_000; made += 1) ids.push(uuidV7(clock, random));
  }
  assert.deepEqual(ids.toSorted(), ids);
  assert.equal(new Set(ids).size, ids.length);
});

test('the first id of a time sorts after all earlier ids and before all of its own millisecond', () => {
  const early = uuidV7(settableClock(start - 1), { bytes: (count) => new Uint8Array(count).fill(0xff) });
  const late = uuidV7(settableClock(start), { bytes: (count) => new Uint8Array(count) });
  const first = firstIdAt(new Date(start));
  assert.ok(isUuid(first));
  assert.ok(early < first && first <= late, `${early} ${first} ${late}`);
});

test('the first id of a time before 1970 sorts before all ids', () => {
  for (const year of ['0001', '1900', '1969'])
    assert.equal(firstIdAt(new Date(`${year}-12-31T23:59:59Z`)), firstIdAt(new Date(0)));
});

test('ids go on sorting when the highest bit of the sequence is reached', () => {
  const clock = settableClock(start);
  // The first sequence is the random one halved, so these bytes start it just below that bit.
  const random = { bytes: (count: number) => new Uint8Array(count).fill(0xff) };
  const [first, second, third] = [uuidV7(clock, random), uuidV7(clock, random), uuidV7(clock, random)];
  assert.deepEqual([third, first, second].toSorted(), [first, second, third]);
});

test('the same seed and the same times give the same ids, whatever was made before', () => {
  const make = (): string[] => {
    const clock = settableClock(start);
    const random = seededRandom('again');
    return Array.from({ length: 50 }, (_, index) => {
      clock.ms += index % 3;
      return uuidV7(clock, random);
    });
  };
  const before = make();
  uuidV7(settableClock(start + 1_000_000), systemRandom);
  assert.deepEqual(make(), before);
});

test('two processes that start in the same millisecond create different ids', () => {
  const ids = new Set<string>();
  for (let process = 0; process < 1_000; process += 1) ids.add(uuidV7(settableClock(start), systemRandom));
  assert.equal(ids.size, 1_000);
});

test('a stable id depends on every part and on nothing else, in every version', () => {
  assert.equal(stableUuid('payment_method', 'wave', '+220877012345'), '88aefa2c-612b-5da0-96bf-bde6c967c8f1');
  assert.notEqual(stableUuid('a', 'bc'), stableUuid('ab', 'c'));
  assert.notEqual(stableUuid('a', ''), stableUuid('a'));
  assert.ok(isUuid(stableUuid()));
});

test('only UUIDs are recognised as ids', () => {
  for (const text of ['019aa0f0-5c00-7b3c-9b7e-0123456789ab', '019AA0F0-5C00-7B3C-9B7E-0123456789AB']) {
    assert.ok(isUuid(text), text);
  }
  const others = [
    '',
    'null',
    '019aa0f05c007b3c9b7e0123456789ab',
    '{019aa0f0-5c00-7b3c-9b7e-0123456789ab}',
    '019aa0f0-5c00-7b3c-9b7e-0123456789ab ',
    '019aa0f0-5c00-7b3c-9b7e-0123456789ab\n',
    '019aa0f0-5c00-7b3c-9b7e-0123456789ag',
    '019aa0f0-5c00-7b3c-9b7e-0123456789a',
    '019aa0f0-5c00-7b3c-cb7e-0123456789ab',
    'a'.repeat(100_000),
  ];
  for (const text of others) assert.ok(!isUuid(text), text.slice(0, 50));
});
