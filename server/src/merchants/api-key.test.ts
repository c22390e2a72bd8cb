import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { effort } from '../../../test/harness/effort.ts';
import { seededRandom, systemRandom } from '../kit/random.ts';
import { createApiKeyText, hmacOfApiKey, isWellFormedApiKey } from './api-key.ts';

const tenThousands = effort({ usual: 100, long: 1_000 });
const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe('an API key', () => {
  it('names its environment, and has 32 random characters and a checksum of six', () => {
    const keys = Array.from({ length: 1_000 }, (_, index) => createApiKeyText(systemRandom, index % 2 === 0));
    for (const [index, key] of keys.entries()) {
      assert.match(key, index % 2 === 0 ? /^sk_test_[0-9A-Za-z]{38}$/ : /^sk_live_[0-9A-Za-z]{38}$/);
      assert.ok(isWellFormedApiKey(key), 'what is made is taken');
    }
    const bodies = keys.map((key) => key.slice(8, 40));
    assert.equal(new Set(bodies).size, keys.length);
    const used = new Set(bodies.join(''));
    assert.equal(used.size, letters.length, 'every letter and digit comes up among 32,000');
    assert.equal(createApiKeyText(seededRandom('key'), true), createApiKeyText(seededRandom('key'), true));
  });

  it(`is distinguished from random text of its form: of ${tenThousands}0,000 at most one passes`, () => {
    let passed = 0;
    for (let batch = 0; batch < tenThousands; batch += 1) {
      // 256 is no multiple of 62: some characters are slightly more frequent.
      const bytes = randomBytes(38 * 10_000);
      for (let key = 0; key < 10_000; key += 1) {
        let text = key % 2 === 0 ? 'sk_test_' : 'sk_live_';
        for (let index = 0; index < 38; index += 1) text += letters[(bytes[key * 38 + index] ?? 0) % 62] ?? '';
        if (isWellFormedApiKey(text)) passed += 1;
      }
    }
    assert.ok(passed <= 1, `${passed} passed`);
  });

  const readsHistory = effort({ usual: false, long: true });
  if (readsHistory) {
    it('is nowhere in the history of this repository', () => {
      const patches = execFileSync('git', ['log', '--all', '--patch', '--no-color', '--text'], {
        ...{ cwd: import.meta.dirname, maxBuffer: 2 ** 30, encoding: 'latin1' },
      });
      assert.ok(patches.length > 1_000_000, 'there is a history');
      const keys = patches.matchAll(/sk_(?:test|live)_[0-9A-Za-z]{38}/g);
      assert.deepEqual(
        [...keys].filter(([key]) => isWellFormedApiKey(key)).map(([key]) => key.slice(0, 12)),
        [],
      );
    });
  }

  it('with one character mistyped, or two neighbours exchanged, is refused', () => {
    const key = createApiKeyText(systemRandom, true);
    for (let index = 0; index < key.length; index += 1) {
      for (const letter of letters) {
        if (letter === key[index]) continue;
        assert.ok(!isWellFormedApiKey(key.slice(0, index) + letter + key.slice(index + 1)), `${letter} at ${index}`);
      }
      const [left, right] = [key.charAt(index), key.charAt(index + 1)];
      if (left === right || right === '') continue;
      assert.ok(
        !isWellFormedApiKey(key.slice(0, index) + right + left + key.slice(index + 2)),
        `exchanged at ${index}`,
      );
    }
  });

  it('that is truncated, longer, of the other environment, or surrounded by text is refused', () => {
    const key = createApiKeyText(systemRandom, true);
    const others = [
      ...[key.slice(0, -1), key.slice(1), `${key}a`, ` ${key}`, `${key} `, `${key}\n`, `${key}\0`, `"${key}"`, ''],
      ...[key.replace('test', 'live'), key.toUpperCase(), key.toLowerCase(), key.replace('sk_', 'pk_'), key.repeat(2)],
      ...[`sk_test_${'é'.repeat(38)}`, `sk_test_${'０'.repeat(38)}`, `sk_test_${'a'.repeat(100_000)}`],
    ];
    for (const other of others) assert.ok(!isWellFormedApiKey(other), other.slice(0, 60));
  });

  it('is stored as a hash that only the holder of the pepper can compute', () => {
    const key = createApiKeyText(systemRandom, true);
    const [one, other] = [randomBytes(32), randomBytes(32)];
    assert.deepEqual(hmacOfApiKey(one, key), hmacOfApiKey(one, key));
    assert.notDeepEqual(hmacOfApiKey(one, key), hmacOfApiKey(other, key));
    assert.equal(hmacOfApiKey(one, key).length, 32);
  });
});
