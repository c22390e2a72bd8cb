import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTerminalCheck, qrCodeUrl, readTerminalAddress, terminalCheck } from './terminal-address.ts';

const key = 'a key';

test('a check depends on the code and the installation’s key only, and never changes', () => {
  // A different check for the same code and key would invalidate all printed posters.
  assert.equal(terminalCheck(key, '4718205'), 'GMQH');
  assert.notEqual(terminalCheck('another key', '4718205'), terminalCheck(key, '4718205'));
});

test('a check has no ambiguous characters and does not reveal the check of another code', () => {
  const checks = Array.from({ length: 5_000 }, (_, index) => terminalCheck(key, String(1_000_000 + index)));
  for (const check of checks) assert.match(check, /^[0-9A-HJKMNP-TV-Z]{4}$/);
  // With a million possible checks, about a dozen among 5,000 collide.
  assert.ok(new Set(checks).size > 4_950);
});

test('only the code’s own check passes', () => {
  const code = '4718205';
  const check = terminalCheck(key, code);
  assert.ok(isTerminalCheck(key, { code, check }));
  for (const wrong of ['', check.slice(0, 3), `${check}0`, check.toLowerCase(), terminalCheck(key, '4718206')]) {
    assert.ok(!isTerminalCheck(key, { code, check: wrong }), wrong);
  }
  assert.ok(!isTerminalCheck('another key', { code, check }));
});

test('a scanned or typed address is parsed', () => {
  const read: [string, object | null][] = [
    ['4718205', { code: '4718205', check: null }],
    ['4718205-7KQ2', { code: '4718205', check: '7KQ2' }],
    ['4718205-7kq2', { code: '4718205', check: '7KQ2' }],
    ['4718205-oIlO', { code: '4718205', check: '0110' }],
    ['471 8205', { code: '4718205', check: null }],
    ['471-8205', { code: '4718205', check: null }],
    [' 471\u00a08205 ', { code: '4718205', check: null }],
    ['471+8205', { code: '4718205', check: null }],
    ['471 8205-7KQ2', { code: '4718205', check: '7KQ2' }],
    ['471 8205 7kq2', { code: '4718205', check: '7KQ2' }],
    ['47182057KQ2', { code: '4718205', check: '7KQ2' }],
    ['\u2066471\u20118205\u2013\u200b7KQ2\u2069', { code: '4718205', check: '7KQ2' }],
    ['4718205-', { code: '4718205', check: null }],
    ['0718205', null],
    ['471820', null],
    ['47182050', null],
    ['4718205-7KQ', null],
    ['4718205-7KQ22', null],
    ['471/8205', null],
    ['471 820', null],
    ['٤٧١٨٢٠٥', null],
    ['', null],
  ];
  for (const [text, address] of read) assert.deepEqual(readTerminalAddress(text), address, text);
});

test('the content of a QR code is parsed back and its check passes', () => {
  const settings = { publicUrl: () => 'https://pay.example', terminalKey: key };
  const url = qrCodeUrl(settings, { code: '4718205' });
  const [, text = ''] = /^https:\/\/pay\.example\/pos\/(.+)$/.exec(url) ?? [];
  const address = readTerminalAddress(text);
  assert.ok(address?.check && isTerminalCheck(key, { code: address.code, check: address.check }), url);
});
