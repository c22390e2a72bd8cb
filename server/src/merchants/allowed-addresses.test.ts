import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bareAddress } from '../kit/client-address.ts';
import { addressFilter, shortestNetwork } from './allowed-addresses.ts';

describe('the shortest form', () => {
  for (const [sent, shortest] of [
    ['192.0.2.7', '192.0.2.7'],
    [' 192.0.2.7 ', '192.0.2.7'],
    ['192.0.2.7/32', '192.0.2.7'],
    ['192.0.2.0/24', '192.0.2.0/24'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['2001:0DB8::/32', '2001:db8::/32'],
    ['2001:db8:0:0:0:0:0:7', '2001:db8::7'],
    ['2001:db8::7/128', '2001:db8::7'],
    ['::/0', '::/0'],
    ['::1', '::1'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::FFFF:c000:207', '192.0.2.7'],
    ['::ffff:192.0.2.0/120', '192.0.2.0/24'],
  ] as const) {
    test(`of ${sent} is ${shortest}`, () => assert.equal(shortestNetwork(sent), shortest));
  }

  for (const sent of [
    '',
    'example.gm',
    '192.0.2',
    '192.0.2.256',
    '192.0.2.7/24',
    '192.0.2.0/33',
    '192.0.2.0/',
    '192.0.2.0/-1',
    '192.0.2.0/24/24',
    '192.0.2.7:443',
    '[2001:db8::1]',
    '2001:db8::1/32',
    '2001:db8::/129',
    '::ffff:192.0.2.0/90',
    'fe80::1%eth0',
    '010.0.0.1',
    '1'.repeat(9_000),
  ]) {
    test(`of ${sent.slice(0, 40) || 'nothing'} is none`, () => assert.equal(shortestNetwork(sent), null));
  }
});

describe('a filter', () => {
  const allows = addressFilter(['192.0.2.7', '198.51.100.0/25', '2001:db8:1::/48', '2001:db8:2::7']);

  for (const client of [
    '192.0.2.7',
    '192.0.2.7:52100',
    '::ffff:192.0.2.7',
    '::ffff:c000:207',
    '[::ffff:192.0.2.7]:443',
    '198.51.100.0',
    '198.51.100.127',
    '2001:db8:1::',
    '2001:DB8:1:ffff:ffff:ffff:ffff:ffff',
    '[2001:db8:1::1]:443',
    '2001:db8:2:0::7',
    '2001:db8:2::7%eth0',
  ]) {
    test(`allows ${client}`, () => assert.equal(allows(bareAddress(client)), true));
  }

  for (const client of [
    '192.0.2.6',
    '192.0.2.8',
    '198.51.100.128',
    '198.51.99.255',
    '2001:db8:2::',
    '2001:db8:2::8',
    '2001:db8:0:ffff::1',
    '::192.0.2.7',
    '64:ff9b::192.0.2.7',
    '::ffff:0:c000:207',
    'unknown',
    '',
  ]) {
    test(`refuses ${client || 'no address'}`, () => assert.equal(allows(bareAddress(client)), false));
  }

  test('of all IPv4 addresses refuses every IPv6 address that is not one', () => {
    const allowsIPv4 = addressFilter(['0.0.0.0/0']);
    assert.deepEqual(['203.0.113.9', '::ffff:203.0.113.9', '2001:db8::1', '::1'].map(allowsIPv4), [
      true,
      true,
      false,
      false,
    ]);
  });
});
