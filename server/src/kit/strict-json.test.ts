import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { anyCharacter } from '../../../test/harness/any-character.ts';
import { deepest, forbiddenNames, nested, notJson, refusedJson } from './strict-json.corpus.ts';
import { parseStrictJson, parseStrictJsonBytes, StrictJsonError, type JsonValue } from './strict-json.ts';

function refusal(text: string): StrictJsonError {
  try {
    parseStrictJson(text);
  } catch (error) {
    assert.ok(error instanceof StrictJsonError, `${String(error)} for ${text.slice(0, 80)}`);
    return error;
  }
  assert.fail(`was accepted: ${text.slice(0, 80)}`);
}

describe('refuses hostile text', () => {
  test('the corpora hold more than a hundred inputs', () => {
    assert.ok(new Set([...notJson, ...refusedJson.map(([text]) => text)]).size > 200);
  });

  test('text that JSON.parse refuses is refused', () => {
    for (const text of notJson) {
      assert.throws(() => JSON.parse(text) as unknown, SyntaxError, `the table is wrong about ${text}`);
      refusal(text);
      // Inside a body the same text must not be understood either, unless it only ends early.
      assert.throws(() => parseStrictJson(`{"data":{"amount":${text}}}`), StrictJsonError, text);
    }
  });

  test('ambiguous JSON is refused, naming the field', () => {
    for (const [text, message, path] of refusedJson) {
      const error = refusal(text);
      assert.match(error.message, message, text.slice(0, 80));
      assert.equal(error.path, path, text.slice(0, 80));
      assert.ok(error.position >= 0 && error.position <= text.length);
    }
  });

  test('every message is one plain sentence or two, fit for a response and a log line', () => {
    for (const text of [...notJson, ...refusedJson.map(([json]) => json)]) {
      const { message } = refusal(text);
      assert.match(message, /^["A-Z][^\n\r\0]{5,150}\.$/u, message);
      assert.ok(message.isWellFormed());
    }
  });

  test('the position is that of the character that is wrong', () => {
    assert.equal(refusal('{"data":{"amount":x}}').position, 18);
    assert.equal(refusal('{"a":1,"b":2,"a":3}').position, 13);
    assert.equal(refusal('{"a":1} x').position, 8);
    assert.equal(refusal('{"a":"b\nc"}').position, 7);
    assert.equal(refusal('[1,2').position, 4);
    assert.equal(refusal('[1,2.x]').position, 5);
  });

  test('a forbidden name changes no prototype', () => {
    for (const name of forbiddenNames) refusal(`{"${name}":{"prototype":{"polluted":true},"polluted":true}}`);
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
  });

  test('a smaller depth can be asked for', () => {
    assert.deepEqual(parseStrictJson('[[1]]', { depthMax: 2 }), [[1]]);
    assert.throws(() => parseStrictJson('[[[1]]]', { depthMax: 2 }), /nested more than 2 levels/);
  });
});

describe('bytes', () => {
  test('UTF-8 is read, and what only looks like it is refused', () => {
    assert.deepEqual(parseStrictJsonBytes(Buffer.from('{"name":"Ŋaañ 😀"}')), { name: 'Ŋaañ 😀' });
    const malformed = [
      '22ff22',
      '22c022',
      '22c08022',
      '22eda08022',
      '22f490808022',
      '22e28222',
      '2280',
      'fffe2200',
      '22f8',
    ];
    for (const hex of malformed) {
      assert.throws(
        () => parseStrictJsonBytes(Buffer.from(hex, 'hex')),
        { name: 'StrictJsonError', message: /UTF-8/ },
        hex,
      );
    }
  });

  test('a byte order mark is refused, not dropped', () => {
    assert.throws(() => parseStrictJsonBytes(Buffer.from('\ufeff{}')), /byte order mark/);
    assert.throws(() => parseStrictJsonBytes(Buffer.from('{}', 'utf16le')), StrictJsonError);
  });
});

const accepted: [text: string, value: JsonValue][] = [
  [' \t\r\n{ "a" : [ 1 , true , false , null , "b" ] } \n', { a: [1, true, false, null, 'b'] }],
  ['{}', {}],
  ['[]', []],
  ['""', ''],
  ['"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041"', '"\\/\b\f\n\r\tA'],
  ['"\\ud83d\\ude00\\u0001\u2028\u007f"', '😀\u0001\u2028\u007f'],
  ['"a\\\\"', 'a\\'],
  ['{"":{"":0}}', { '': { '': 0 } }],
  ['{"toString":1,"hasOwnProperty":2,"valueOf":null}', { toString: 1, hasOwnProperty: 2, valueOf: null }],
  ['{"2":"b","1":"a","length":0}', { 1: 'a', 2: 'b', length: 0 }],
  ['{"A":1,"a":2,"a ":3}', { A: 1, a: 2, 'a ': 3 }],
  [nested(deepest), JSON.parse(nested(deepest)) as JsonValue],
  ['[[],[],[[]],{},[]]', [[], [], [[]], {}, []]],
];

const numbers: [text: string, decimal: string][] = [
  ...['0', '7', '450', '10.5', '0.01', '-12.75', '999999999999.99', '5e-324', '1e+21'].map((text): [string, string] => [
    text,
    text,
  ]),
  ['1e2', '100'],
  ['1E+2', '100'],
  ['4.50e2', '450'],
  ['1050e-2', '10.5'],
  ['10.50', '10.5'],
  ['10.00000000000000000000', '10'],
  ['0.000', '0'],
  ['0e99999999', '0'],
  ['9007199254740992', '9007199254740992'],
  ['0.1e1', '1'],
  ['1e22', '1e+22'],
  ['1000000000000000000000000', '1e+24'],
  [`0.${'0'.repeat(500)}1e501`, '1'],
  [`1${'0'.repeat(60_000)}e-60000`, '1'],
];

describe('accepts JSON', () => {
  test('of every shape', () => {
    for (const [text, value] of accepted) assert.deepEqual(parseStrictJson(text), value);
  });

  test('numbers whose decimal a double carries, in any notation', () => {
    for (const [text, decimal] of numbers) assert.equal(decimalOf(text), decimal, text);
  });

  test('whatever fast-check can write as JSON comes back as it was', () => {
    const values = fc.jsonValue({ stringUnit: anyCharacter, maxDepth: 6 });
    fc.assert(
      fc.property(values, fc.constantFrom(0, 1, 3), (value, indent) => {
        fc.pre(!holdsRefused(value as JsonValue));
        const text = JSON.stringify(value, null, indent);
        const expected = JSON.parse(text) as JsonValue;
        assert.deepEqual(parseStrictJson(text), expected);
        assert.deepEqual(parseStrictJsonBytes(Buffer.from(text)), expected);
      }),
      { numRuns: 2_000 },
    );
  });

  test('any decimal of up to 15 digits keeps its text', () => {
    // Up to six places, because String() writes smaller numbers with an exponent.
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 999_999_999_999_999 }),
        fc.integer({ min: 1, max: 6 }),
        (digits, decimals) => {
          const padded = String(digits).padStart(decimals + 1, '0');
          const text = `${padded.slice(0, -decimals)}.${padded.slice(-decimals)}`;
          assert.equal(decimalOf(text), text.replace(/\.?0{1,6}$/, ''));
          assert.equal(decimalOf(String(digits)), String(digits));
        },
      ),
      { numRuns: 5_000 },
    );
  });
});

test('nothing is accepted that JSON.parse refuses or reads differently', () => {
  const edits = fc.array(
    fc.record({
      at: fc.nat(400),
      remove: fc.nat(3),
      insert: fc.oneof(
        fc.constantFrom(
          '"',
          '\\',
          ',',
          ':',
          '{',
          '}',
          '[',
          ']',
          '0',
          '-',
          '.',
          'e',
          '1e400',
          '\\u0000',
          '\\ud800',
          '\n',
          'null',
        ),
        fc.string({ maxLength: 2, unit: anyCharacter }),
      ),
    }),
    { minLength: 1, maxLength: 4 },
  );
  let stillJson = 0;
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), edits, (value, changes) => {
      let text = JSON.stringify(value);
      for (const { at, remove, insert } of changes) {
        const position = at % (text.length + 1);
        text = text.slice(0, position) + insert + text.slice(position + remove);
      }
      let result: JsonValue;
      try {
        result = parseStrictJson(text);
      } catch (error) {
        assert.ok(error instanceof StrictJsonError, String(error));
        return;
      }
      stillJson += 1;
      assert.deepEqual(result, JSON.parse(text));
    }),
    { numRuns: 5_000 },
  );
  assert.ok(stillJson > 50, `only ${stillJson} edited texts were still JSON`);
});

test('time grows with the length of the text only', () => {
  const length = 1_000_000;
  const texts = [
    `[${'0,'.repeat(length / 2)}0]`,
    `"${'\\n'.repeat(length / 2)}"`,
    `"${'a'.repeat(length)}`,
    `"${'\\"'.repeat(length / 2)}`,
    `[${'"\\u0041",'.repeat(length / 9)}1]`,
    `0.${'0'.repeat(length)}1`,
    `1${'0'.repeat(length)}1`,
    `${'1'.repeat(length)}.${'1'.repeat(length)}`,
    ' '.repeat(length),
    `{${Array.from({ length: length / 10 }, (_, index) => `"k${index}":0`).join(',')}}`,
    `{${Array.from({ length: length / 10 }, (_, index) => `"${index * 40_007}":0`).join(',')}}`,
    `"${'😀'.repeat(length / 2)}\ud83d"`,
    `[${'"\ud83d\ude00",'.repeat(length / 5)}"\ud83d"]`,
  ];
  for (const text of texts) {
    // The processor's time: on a busy machine the wall clock says nothing.
    const before = process.cpuUsage();
    try {
      parseStrictJson(text);
    } catch (error) {
      assert.ok(error instanceof StrictJsonError);
    }
    const { user, system } = process.cpuUsage(before);
    const durationMs = (user + system) / 1_000;
    // Linear time takes some 10 ms for a megabyte, quadratic time minutes.
    assert.ok(durationMs < 2_000, `${text.slice(0, 20)}… took ${durationMs} ms`);
  }
});

function holdsRefused(value: JsonValue, depth = 1): boolean {
  if (typeof value === 'string') return value.includes('\0') || !value.isWellFormed();
  if (value === null || typeof value !== 'object') return false;
  if (depth > deepest) return true;
  if (Array.isArray(value)) return value.some((item) => holdsRefused(item, depth + 1));
  return Object.entries(value).some(
    ([name, item]) => forbiddenNames.includes(name) || holdsRefused(name) || holdsRefused(item, depth + 1),
  );
}

function decimalOf(text: string): string {
  const value = parseStrictJson(text);
  assert.ok(typeof value === 'number');
  return String(value);
}
