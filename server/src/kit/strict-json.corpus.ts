export const forbiddenNames = ['__proto__', 'constructor', 'prototype'];

/** The number of levels that parseStrictJson takes when nothing else is asked for. */
export const deepest = 32;

export function nested(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth);
}

/** Texts that RFC 8259 does not call JSON; JSON.parse refuses each of them too. */
export const notJson: string[] = [
  words`{ } [ ] " : , - + . e \ /`,
  words`{"a" {"a": {"a":1 {"a":1, {"a":1,} {,} {"a":1;"b":2} {"a"::1} {a:1} {'a':1} {1:1} {null:1} {"a":} {:1} {"a":1]`,
  words`{"a",1} {[]:1} {"a":1}} {"a":1}{ [1 [1, [1,] [,1] [,] [1} [1]] [1:2] [1,,2] ["a" [nul] [...]`,
  words`01 -01 00 1. .5 -.5 1.e2 1e 1e+ 1e- 1E +1 --1 1- 1e2.5 1.2.3 0x10 0b1 0o7 1_000 1,000.50 10n NaN -NaN`,
  words`Infinity -Infinity ٤٥٠ ４５０ ½ 1/2 1e1e1 True TRUE tru truex falsey nulll Null undefined function(){}`,
  words`"a "a\ "a\" "\x41" "\u12" "\u12G4" "\u{41}" "\v" "\0" "\'" "\n 'a' "a"b 1// 1;`,
  ['', ' ', '\t\n', 'true false', '{"a" 1}', '{"a":1 "b":2}', '[1 2]', '1 1', '{} {}', '[] 1', '"a" "b"'],
  ['"\\ "', '`a`', '/* a */ 1', '1 // a', '# a\n1', '<!-- -->1', '{"a\nb":1}', '"\\u0041\n"', '"\\\n"', '"\\\0"'],
  ['\n', '\t', '\r', '\b', '\0', '\u001f'].map((control) => `"a${control}b"`),
  ['\u00a0', '\u2028', '\v', '\f', '\0', '\u200b', '\u202e', '\ufeff'].flatMap((space) => [`${space}{}`, `{}${space}`]),
  ['\ufeff', '\0', '\u00a0'],
].flat();

/** The words of a template as they are written, backslashes included. */
function words(template: TemplateStringsArray): string[] {
  return template.raw.join('').split(' ');
}

/** Numbers that come out of a double as another decimal, or not at all. */
const inexact: string[] = [
  words`1e400 -1e400 1e309 1e99999999999999999999 1.7976931348623159e308 2e308 9e9999 1e-400 4.9e-324 2e-324`,
  words`9007199254740993 -9007199254740993 9007199254740993.0 12345678901234567890 18446744073709551615`,
  words`1.0000000000000001 0.10000000000000000555 450.00000000000000001 0.1000000000000000055511151231257827`,
  words`123456789012345678 1000000000000000.01 99999999999999999e-15 0.30000000000000001 5404319552844595.7`,
  [`0.${'0'.repeat(400)}1`, `1${'0'.repeat(400)}`, '9'.repeat(309)],
].flat();

/** JSON that JSON.parse takes and this parser must not, with a part of the message and the path it has to name. */
export const refusedJson: [text: string, message: RegExp, path: string][] = [
  ['{"a":1,"a":1}', /"a" is there twice/, 'a'],
  ['{"a":1,"b":2,"a":3}', /twice/, 'a'],
  ['{"data":{"amount":450,"amount":1}}', /"amount" is there twice/, 'data.amount'],
  ['{"data":{"amount":450,"\\u0061mount":1}}', /"amount" is there twice/, 'data.amount'],
  ['{"members":[{"id":1},{"id":2,"id":3}]}', /twice/, 'members.1.id'],
  ['{"":1,"":2}', /twice/, ''],
  ['{"0":1,"0":2}', /twice/, '0'],
  ['{"a":null,"a":1}', /twice/, 'a'],
  ['{"a":false,"a":true}', /twice/, 'a'],
  ['{"toString":1,"toString":2}', /twice/, 'toString'],
  ['{"é":1,"\\u00e9":2}', /twice/, 'é'],
  [`{"${'n'.repeat(100)}":1,"${'n'.repeat(100)}":2}`, /twice/, `${'n'.repeat(40)}…`],
  ...forbiddenNames.flatMap((name): [string, RegExp, string][] => [
    [`{"${name}":{}}`, /not allowed as a field name/, name],
    [`{"${name}":null}`, /not allowed as a field name/, name],
    [`{"data":{"metadata":{"${name}":{"admin":true}}}}`, /not allowed as a field name/, `data.metadata.${name}`],
    [`[{"${name}":1}]`, /not allowed as a field name/, `0.${name}`],
    [`{"\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}":1}`, /not allowed as a field name/, name],
  ]),
  ...inexact.map((number): [string, RegExp, string] => [`{"data":{"amount":${number}}}`, /more digits/, 'data.amount']),
  ...['-0', '-0.0', '-0e5', '-0.000', '-0E-7', '-1e-400'].map((number): [string, RegExp, string] => [
    `[1,${number}]`,
    /Minus zero/,
    '1',
  ]),
  ['{"a":"x\\u0000y"}', /NUL/, 'a'],
  ['"\\u0000"', /NUL/, ''],
  ['{"data":{"b":1,"a\\u0000":1}}', /NUL/, 'data'],
  ['{"a":"\\ud800"}', /surrogate/, 'a'],
  ['{"a":"\\udc00\\ud800"}', /surrogate/, 'a'],
  ['{"a":"\\ud83dx"}', /surrogate/, 'a'],
  ['{"a":"\\ud83d\\\\ude00"}', /surrogate/, 'a'],
  ['{"\\udfff":1}', /surrogate/, ''],
  ['{"a":"\ud800"}', /surrogate/, 'a'],
  ['{"a":"x\udc00\\n"}', /surrogate/, 'a'],
  ['{"\ud83d":1}', /surrogate/, ''],
  [nested(deepest + 1), /nested more than 32 levels/, levels('0')],
  [nested(100_000), /nested more than/, levels('0')],
  [`${'{"a":'.repeat(deepest + 1)}1${'}'.repeat(deepest + 1)}`, /nested more than/, levels('a')],
  ['['.repeat(1_000_000), /nested more than/, levels('0')],
  ['{"a":'.repeat(200_000), /nested more than/, levels('a')],
];

/** The path of the deepest place, where every level has this name. */
function levels(name: string): string {
  return Array.from({ length: deepest }, () => name).join('.');
}
