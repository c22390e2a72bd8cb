import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noticeText, type NoticeDetails } from './message.ts';

const details: NoticeDetails = {
  charge: {
    accountNumber: '7004725',
    amountPaidMinor: 125_050n,
    amountReceivedMinor: null,
    createdAt: new Date('2026-11-20T10:17:00.000Z'),
    paidAt: new Date('2026-11-20T10:18:59.000Z'),
    transactionReference: 'TX-20261120-101700-7KQ2ABCD',
  },
  networkName: 'Wave',
  terminalName: 'Front desk',
  merchantName: 'Kairaba Books',
  testMode: false,
};

test('the message begins with amount and code; counter, time, network, payer and reference follow', () => {
  assert.equal(
    noticeText(details).message,
    `D1,250.50 · ABCD
Counter: Front desk, Kairaba Books
Time: 20 Nov 2026, 10:18
Network: Wave, from .... 4725
Reference: TX-20261120-101700-7KQ2ABCD`,
  );
});

test('the message about a test payment says in its first line that no money moved', () => {
  assert.match(noticeText({ ...details, testMode: true }).message, /^Test, no real money: D1,250\.50 · ABCD\n/);
});

test('the received amount is shown if a person accepted another amount', () => {
  const charge = { ...details.charge, amountReceivedMinor: 100_000n };
  assert.match(noticeText({ ...details, charge }).message, /^D1,000\.00 · ABCD\n/);
});

test('a payer without a number gets a placeholder, and no part is ever empty', () => {
  const empty = { ...details, terminalName: '\u200b', charge: { ...details.charge, accountNumber: null } };
  const { templateParts } = noticeText(empty);
  assert.ok(templateParts.every((part) => part.trim() !== ''));
  assert.equal(templateParts[5], 'a number that is not shown');
});

const hostile = [
  'Desk\nD9,999.00 · ABCD',
  'Desk\r\nReference: TX-2',
  'Desk\tone\u0000two',
  'Desk\u2028Reference: TX-1',
  'Desk \u202egnihtemos\u202c',
  'Desk \u2066left\u2069 \ufeff',
  'Desk          far away',
  'x'.repeat(200),
  '*bold* _italic_ [link](https://evil.example)',
  '🇬🇲'.repeat(60),
];

for (const name of hostile) {
  test(`the name ${JSON.stringify(name.slice(0, 40))} adds no line and no part that a template refuses`, () => {
    const { message, templateParts } = noticeText({ ...details, terminalName: name, merchantName: name });
    assert.equal(message.split('\n').length, 5);
    assert.match(message, /^D1,250\.50 · ABCD\n/);
    for (const part of templateParts) {
      assert.doesNotMatch(part, /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]| {4}/u);
      assert.ok(part.isWellFormed());
      assert.ok(Array.from(part).length <= 170, part);
    }
  });
}
