import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { anyCharacter } from '../../../test/harness/any-character.ts';
import { createSealer, SealError } from './seal.ts';

const key = randomBytes(32).toString('base64');
const sealer = createSealer(key);
const context = 'webhook secret of endpoint 1';

describe('a sealed value', () => {
  test('opens to the same bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.string({ minLength: 1, unit: anyCharacter }), (plain, name) => {
        assert.deepEqual(sealer.open(sealer.seal(plain, name), name), Buffer.from(plain));
      }),
    );
    assert.equal(sealer.open(sealer.seal('Ŋaañ 😀', context), context).toString(), 'Ŋaañ 😀');
    assert.equal(sealer.open(Uint8Array.from(sealer.seal('plain bytes', context)), context).toString(), 'plain bytes');
  });

  test('does not open when any bit of it was changed', () => {
    const sealed = sealer.seal('wh_secret', context);
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assert.throws(() => sealer.open(changed, context), SealError, `bit ${bit}`);
    }
  });

  test('does not open when it was cut or lengthened', () => {
    const sealed = sealer.seal('wh_secret', context);
    for (let length = 0; length < sealed.length; length += 1) {
      assert.throws(() => sealer.open(sealed.subarray(0, length), context), SealError, `cut to ${length}`);
    }
    assert.throws(() => sealer.open(Buffer.concat([sealed, Buffer.alloc(1)]), context), SealError);
  });

  test('does not open in another context', () => {
    const sealed = sealer.seal('wh_secret', context);
    for (const other of ['webhook secret of endpoint 2', `${context} `, 'w']) {
      assert.throws(() => sealer.open(sealed, other), { name: 'SealError', message: /another context/ });
    }
    assert.throws(() => sealer.seal('wh_secret', ''), { name: 'AssertionFailure' });
  });

  test('reveals neither its content nor that two are equal', () => {
    const [first, second] = [sealer.seal('wh_secret', context), sealer.seal('wh_secret', context)];
    assert.ok(!first.includes('wh_secret'));
    assert.ok(!first.subarray(5).equals(second.subarray(5)));
    // Only version and key id are alike; nonce, ciphertext and tag are not.
    assert.deepEqual(first.subarray(0, 5), second.subarray(0, 5));
    assert.equal(first.length, 'wh_secret'.length + 33);
  });
});

describe('keys', () => {
  test('an old key opens what it sealed, and the first one seals', () => {
    const newKey = randomBytes(32).toString('hex');
    const sealed = sealer.seal('kept', context);
    const changed = createSealer(newKey, [randomBytes(32).toString('hex'), key]);
    assert.equal(changed.open(sealed, context).toString(), 'kept');
    assert.equal(createSealer(newKey).open(changed.seal('new', context), context).toString(), 'new');
    assert.throws(() => sealer.open(changed.seal('new', context), context), {
      name: 'SealError',
      message: /not configured/,
    });
  });

  test('hex and base64 are two spellings of one key', () => {
    const bytes = Buffer.from(key, 'base64');
    const spellings = [bytes.toString('hex'), bytes.toString('hex').toUpperCase(), bytes.toString('base64url')];
    for (const spelling of spellings) {
      assert.equal(createSealer(spelling).open(sealer.seal('same', context), context).toString(), 'same');
    }
  });

  test('a key that is not 32 bytes is refused without repeating it', () => {
    const wrong = [
      '',
      'secret',
      key.slice(1),
      `${key}A`,
      ` ${key}`,
      `${key}\n`,
      key.replace(/.{4}/, '....'),
      `${'0'.repeat(63)}g`,
      '0'.repeat(65),
      ...[16, 31, 33, 64].map((bytes) => randomBytes(bytes).toString('hex')),
      ...[16, 31, 33, 64].map((bytes) => randomBytes(bytes).toString('base64')),
    ];
    for (const text of wrong) {
      assert.throws(
        () => createSealer(text),
        (error) => error instanceof SealError && (text.length < 10 || !error.message.includes(text.trim())),
        text,
      );
      assert.throws(() => createSealer(key, [text]), SealError);
    }
  });
});
