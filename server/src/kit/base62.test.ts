import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32Base62, randomBase62 } from './base62.ts';
import { seededRandom, systemRandom } from './random.ts';

test('a random text has the length asked for and only letters and digits', () => {
  for (const length of [0, 1, 6, 32, 33, 500]) {
    assert.match(randomBase62(systemRandom, length), new RegExp(`^[0-9A-Za-z]{${length}}$`));
  }
});

test('every character is equally likely', () => {
  const counts = new Map<string, number>();
  for (const character of randomBase62(seededRandom('base62'), 620_000)) {
    counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  assert.equal(counts.size, 62);
  // 10,000 expected. Taking bytes modulo 62 would give the first eight 12,100.
  for (const [character, count] of counts) assert.ok(Math.abs(count - 10_000) < 600, `${character}: ${count}`);
});

test('bytes that would make some characters more likely are discarded', () => {
  const chunks = [Uint8Array.of(247, 248, 255), Uint8Array.of(250, 62), Uint8Array.of(61)];
  const requestedCounts: number[] = [];
  const bytes = (count: number): Uint8Array => {
    requestedCounts.push(count);
    return chunks.shift() ?? assert.fail('asked too often');
  };
  assert.equal(randomBase62({ bytes }, 3), 'z0z');
  assert.deepEqual(requestedCounts, [3, 2, 1]);
});

test('the checksum is the CRC32 in six characters', () => {
  // 0xCBF43926, the check value of CRC-32, is 3421780262.
  assert.equal(crc32Base62('123456789'), '3jZRME');
  assert.equal(crc32Base62(''), '000000');
});

test('mistyping one character or swapping two neighbours changes the checksum', () => {
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const key = `sk_test_${randomBase62(seededRandom('mistyped'), 32)}`;
  const checksum = crc32Base62(key);
  for (let position = 0; position < key.length; position += 1) {
    const [before, after] = [key.slice(0, position), key.slice(position + 1)];
    for (const character of alphabet) {
      if (character !== key[position]) assert.notEqual(crc32Base62(before + character + after), checksum);
    }
    const exchanged = before + after.slice(0, 1) + key.charAt(position) + after.slice(1);
    if (exchanged !== key) assert.notEqual(crc32Base62(exchanged), checksum);
  }
});
