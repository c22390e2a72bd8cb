import assert from 'node:assert/strict';
import { test } from 'node:test';
import { english } from '../languages/languages.ts';
import { renderHtml } from '../kit/html.ts';
import { cleanText, foreignText, formatDuration, formatNumber, formatTime, linkable } from './page-text.ts';

test('untrusted text loses control and bidi characters, and keeps letters of any script', () => {
  const cases: [string, string][] = [
    ['moc.elpmaxe\u202eknab', 'moc.elpmaxeknab'],
    ['\u2066a\u2067b\u2068c\u2069', 'abc'],
    ['\u200ea\u200fb\u061cc', 'abc'],
    ['a\u0000b\u001bc', 'abc'],
    ['  two\n\nlines\t ', 'two lines'],
    ['متجر الكتب', 'متجر الكتب'],
    ['Ŋanniŋ', 'Ŋanniŋ'],
    ['क्\u200dष', 'क्\u200dष'],
  ];
  for (const [input, expected] of cases) assert.equal(cleanText(input), expected);
});

test('untrusted text is isolated and escaped', () => {
  assert.equal(renderHtml(foreignText('<b>\u202eName</b>')), '<bdi>&lt;b&gt;Name&lt;/b&gt;</bdi>');
});

test('times are in UTC, the time of Banjul', () => {
  assert.equal(formatTime(new Date('2026-11-20T10:18:59.999Z')), '20 Nov 2026, 10:18');
  assert.equal(formatTime(new Date('2027-01-01T00:00:00.000Z')), '1 Jan 2027, 00:00');
});

test('time left is never zero and never shows more hours than are left', () => {
  const minute = 60_000;
  const cases: [number, string][] = [
    [0, '1 min'],
    [59_999, '1 min'],
    [minute + 1, '2 min'],
    [60 * minute, '1 h 0 min'],
    [121 * minute, '2 h 1 min'],
    [47 * 60 * minute, '47 h 0 min'],
    [7 * 24 * 60 * minute, '7 days'],
  ];
  for (const [ms, expected] of cases) assert.equal(renderHtml(formatDuration(ms, english)), expected);
});

test('only URLs that cannot run code are linked', () => {
  const linked = ['https://shop.example/a?b=c', 'http://localhost:3000/', 'shop://done'];
  const refused = [
    'javascript:alert(1)',
    'JAVASCRIPT:alert(1)',
    ' javascript:alert(1)',
    'java\tscript:alert(1)',
    '\u0001javascript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://shop.example/1',
    'about:blank',
    '/relative',
    'not an address',
    '',
    null,
  ];
  for (const address of linked) assert.equal(linkable(address), address);
  for (const address of refused) assert.equal(linkable(address), null, String(address));
});

test('a number is grouped as people write it, in the form that was entered', () => {
  const cases: [string, string][] = [
    ['7000001', '700 0001'],
    ['+2207000001', '700 0001'],
    ['00220 87 700 0001', '87 700 0001'],
    ['2201234', '220 1234'],
    ['+33612345678', '+33612345678'],
    [' 12 ', '12'],
  ];
  for (const [input, expected] of cases) assert.equal(formatNumber(input), expected);
});
