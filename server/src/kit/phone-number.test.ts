import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  maskPhoneNumber,
  parseInternationalNumber,
  parsePhoneNumber,
  PhoneNumberError,
  type Operator,
} from './phone-number.ts';

const live = { strict: true };
const anywhere = [{ strict: true }, { strict: false }];

const operators: [old: string, canonical: string, operator: Operator][] = [
  ['7012345', '+220877012345', 'africell'],
  ['2012345', '+220872012345', 'africell'],
  ['4012345', '+220874012345', 'africell'],
  ['4112345', '+220874112345', 'africell'],
  ['4512345', '+220874512345', 'africell'],
  ['3123456', '+220833123456', 'qcell'],
  ['5012345', '+220835012345', 'qcell'],
  ['5112345', '+220835112345', 'qcell'],
  ['5212345', '+220835212345', 'qcell'],
  ['5312345', '+220835312345', 'qcell'],
  ['5412345', '+220835412345', 'qcell'],
  ['5812345', '+220835812345', 'qcell'],
  ['5912345', '+220835912345', 'qcell'],
  ['6123456', '+220866123456', 'comium'],
];
for (const [old, canonical, operator] of operators) {
  test(`${old} and its new form are one line of ${operator}`, () => {
    for (const options of anywhere) {
      const aliases = [`+220${old}`];
      assert.deepEqual(parsePhoneNumber(old, options), {
        canonical,
        aliases,
        nationalDigits: old,
        operatorHint: operator,
      });
      const nationalDigits = canonical.slice(4);
      const fromNew = parsePhoneNumber(nationalDigits, options);
      assert.deepEqual(fromNew, { canonical, aliases, nationalDigits, operatorHint: operator });
    }
  });
}

const unchanged: [digits: string, operator: Operator | null][] = [
  ['9123456', 'gamcel'],
  ['8123456', 'gamtel'],
  ['8912345', 'gamtel'],
  ['4212345', 'gamtel'],
  ['4312345', 'gamtel'],
  ['4412345', 'gamtel'],
  ['4612345', null],
  ['5561234', null],
  ['5540123', null],
  ['5661234', null],
  ['5712345', null],
  ['8412345', null],
  ['8712345', null],
  ['1234567', null],
  ['0000000', null],
];
for (const [digits, operatorHint] of unchanged) {
  test(`${digits} keeps its seven digits (${operatorHint ?? 'nobody knows whose it is'})`, () => {
    for (const options of anywhere) {
      const expected = { canonical: `+220${digits}`, aliases: [], nationalDigits: digits, operatorHint };
      assert.deepEqual(parsePhoneNumber(digits, options), expected);
    }
  });
}

test('ranges that are ambiguous with 7 digits are certain behind their prefix', () => {
  const qcell = {
    canonical: '+220835561234',
    aliases: ['+2205561234'],
    nationalDigits: '835561234',
    operatorHint: 'qcell',
  };
  assert.deepEqual(parsePhoneNumber('835561234', live), qcell);
  for (const core of ['8412345', '8512345', '8612345', '8712345']) {
    assert.equal(parsePhoneNumber(`86${core}`, live).operatorHint, 'comium');
  }
});

const readings: [inputs: string[], canonical: string, operator: Operator][] = [
  [
    ['7012345', '+220 701 2345', '002207012345', '2207012345', '877012345', '220877012345', '00220 87 701 23 45'],
    '+220877012345',
    'africell',
  ],
  [['3123456', '833123456', '+220833123456'], '+220833123456', 'qcell'],
  [['9123456', '+220 9123456', '2209123456'], '+2209123456', 'gamcel'],
  [['2201234', '+2202201234', '220 220 1234', '872201234'], '+220872201234', 'africell'],
  [
    [
      ' 701-2345 ',
      '(+220) 701 2345',
      '+220 (701) 23.45',
      '701.23.45',
      '7 0 1 2 3 4 5',
      '+220\u00a0701\u20112345',
      '701–2345',
    ],
    '+220877012345',
    'africell',
  ],
];
for (const [inputs, canonical, operator] of readings) {
  test(`${inputs[0]?.trim()} is read from every usual form`, () => {
    for (const input of inputs) {
      const number = parsePhoneNumber(input, live);
      assert.equal(number.canonical, canonical, input);
      assert.equal(number.operatorHint, operator, input);
    }
  });
}

test('a 9-digit number whose prefix and core disagree is refused in live and passes in test', () => {
  for (const digits of ['861234567', '873123456', '837012345', '868312345', '876123456', '874212345', '831234567']) {
    assert.throws(
      () => parsePhoneNumber(digits, live),
      { name: 'PhoneNumberError', message: /do not go with/ },
      digits,
    );
    const expected = { canonical: `+220${digits}`, aliases: [], nationalDigits: digits, operatorHint: null };
    assert.deepEqual(parsePhoneNumber(digits, { strict: false }), expected);
  }
});

test('a 9-digit prefix that no table knows yet passes everywhere', () => {
  for (const options of anywhere) {
    const expected = { canonical: '+220891234567', aliases: [], nationalDigits: '891234567', operatorHint: null };
    assert.deepEqual(parsePhoneNumber('89 123 4567', options), expected);
  }
});

test('every number of 7 or 9 digits passes in test and keeps its last four, which decide the outcome', () => {
  const digits = fc.oneof(
    fc.nat(9_999_999).map((n) => pad(n, 7)),
    fc.nat(999_999_999).map((n) => pad(n, 9)),
  );
  const forms = fc.constantFrom('', '+220', '00220', '220', '+220 ');
  fc.assert(
    fc.property(digits, forms, (national, before) => {
      const number = parsePhoneNumber(before + national, { strict: false });
      for (const form of [number.canonical, ...number.aliases]) assert.equal(form.slice(-4), national.slice(-4));
      assert.equal(number.nationalDigits, national);
      assert.equal(parsePhoneNumber(number.canonical, { strict: false }).canonical, number.canonical);
      assert.match(number.canonical, /^\+220(?:\d{7}|\d{9})$/);
    }),
  );
  for (const account of ['7000001', '3000009', '5550004', '873000012']) {
    assert.equal(parsePhoneNumber(account, { strict: false }).canonical.slice(-4), account.slice(-4));
  }
});

test('the old form, the new form and every alias of a line have one canonical form', () => {
  const mobile = fc.constantFrom('2', '7', '40', '41', '45', '3', '50', '53', '54', '58', '59', '6');
  fc.assert(
    fc.property(mobile, fc.nat(9_999_999), (start, rest) => {
      const number = parsePhoneNumber((start + pad(rest, 7)).slice(0, 7), live);
      assert.equal(number.aliases.length, 1);
      for (const alias of number.aliases) assert.equal(parsePhoneNumber(alias, live).canonical, number.canonical);
      assert.deepEqual(parsePhoneNumber(number.canonical, live).aliases, number.aliases);
    }),
  );
});

test('anything else is refused with a sentence that does not repeat the number', () => {
  const fixedSentence = /^PhoneNumberError: (?:Write a Gambian number with|Write the number with|This is too long)/;
  const refused = [
    ['', ' ', '+', '-', '(())', '0', '701234', '70123456', '7012345678', '+2201234', '+7012345', '+22070123456'],
    ['22022070123456', '++2207012345', '+220+7012345', '7012345+', '000220 7012345', '+221771234567', '7,012,345'],
    ['+220 701 234x', 'O7O12345', '701 2345 ext 1', '7012345;7012346', '7e12345', '0x7012345', '+220/7012345'],
    ['7012345\n', '\t7012345', '7012345\0', '\u202e7012345', '\u200f7012345', '701\u200b2345', '7012345\ufeff'],
    ['٧٠١٢٣٤٥', '７０１２３４５', '70123４5', '߇߀߁߂߃߄߅', '+٢٢٠7012345'],
    ['7'.repeat(100_000), '7012345'.repeat(8), ' '.repeat(1_000_000)],
  ].flat();
  for (const text of refused) {
    for (const options of anywhere) {
      assert.throws(() => parsePhoneNumber(text, options), fixedSentence, text.slice(0, 40));
    }
  }
});

test('digits of other scripts get a message of their own', () => {
  for (const text of ['٧٠١٢٣٤٥', '７０１２３４５', '701234٥', '߇߀߁߂߃߄߅']) {
    assert.throws(() => parsePhoneNumber(text, live), /Write the number with the digits 0 to 9/);
  }
});

test('international numbers are Gambian in any form, or foreign with a plus', () => {
  const numbers: [text: string, canonical: string][] = [
    ['701 2345', '+220877012345'],
    ['+220 701 2345', '+220877012345'],
    ['+221 77 123 45 67', '+221771234567'],
    ['+44 (20) 7946-0958', '+442079460958'],
    ['+1 212 555 0123', '+12125550123'],
    ['+683 4002', '+6834002'],
  ];
  for (const [text, canonical] of numbers) assert.equal(parseInternationalNumber(text, live), canonical);
  for (const text of [
    '221771234567',
    '00221771234567',
    '+0123456789',
    '+123456',
    '+1234567890123456',
    '+220123',
    '',
    '+',
  ]) {
    assert.throws(() => parseInternationalNumber(text, live), PhoneNumberError, text);
  }
  assert.throws(() => parseInternationalNumber('+220861234567', live), /do not go with/);
});

test('a masked number shows its last four digits', () => {
  assert.equal(maskPhoneNumber('+220 770 4725'), '.... 4725');
  assert.equal(maskPhoneNumber('77 04 72 5'), '.... 4725');
  assert.equal(maskPhoneNumber('12'), '.... 12');
  assert.equal(maskPhoneNumber('unknown'), '....');
  assert.equal(maskPhoneNumber(''), '');
});

function pad(number: number, length: number): string {
  return String(number).padStart(length, '0');
}
