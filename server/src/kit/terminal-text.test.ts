import assert from 'node:assert/strict';
import { styleText } from 'node:util';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyCharacter } from '../../../test/harness/any-character.ts';
import { sanitizeLine, printable, printableJson } from './terminal-text.ts';

const hostile = 'a\u001b[2J\u001b]0;title\u0007\u009b31m\u202eb\u0000\u{e0041}\ud800\u2066c\r\nd';

test('printable text keeps letters, line ends and known styles, and no other control character', () => {
  assert.equal(printable(hostile), 'a[2J]0;title31mbc\nd');
  assert.equal(printable('Ŋañ ﷺ 🙂\té'), 'Ŋañ ﷺ 🙂\té');
  for (const colour of ['green', 'red', 'yellow', 'dim', 'bold'] as const) {
    const text = styleText(colour, 'paid', { validateStream: false });
    assert.equal(printable(text), text);
  }
});

test('text from elsewhere inside a line has no line ends and no styles', () => {
  assert.equal(sanitizeLine(hostile), 'a[2J]0;title31mbc d');
  fc.assert(fc.property(fc.string({ unit: anyCharacter }), (text) => /^\P{C}*$/u.test(sanitizeLine(text))));
});

test('printable JSON is the same value, without control characters', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: anyCharacter }), (value) => {
      const text = printableJson(value);
      assert.match(text, /^\P{C}*$/u);
      assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)));
    }),
  );
  assert.deepEqual(JSON.parse(printableJson({ hostile }, 2)), { hostile });
});
