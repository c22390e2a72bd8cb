import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientNetwork } from './client-address.ts';

for (const [address, network] of [
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['192.0.2.7:52100', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:0001:0002::1', '2001:db8:1:2::/64'],
  ['[2001:db8:1:2::9]:443', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['1::', '1:0:0:0::/64'],
  ['64:ff9b::192.0.2.7', '64:ff9b:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::ffff:2900:1', '41.0.0.1'],
  ['::FFFF:c000:0207', '192.0.2.7'],
  ['0:0:0:0:0:ffff:192.0.2.7', '192.0.2.7'],
  ['[::ffff:c000:207]:443', '192.0.2.7'],
  ['::ffff:0:c000:207', '0:0:0:0::/64'],
  ['unknown', 'unknown'],
  ['anything that a client writes', 'unknown'],
  ['999.1.1.1', 'unknown'],
  ['x'.repeat(9_000), 'unknown'],
  ['', 'unknown'],
  [undefined, ''],
] as const) {
  test(`a client at ${address?.slice(0, 40) ?? 'nowhere any more'} counts as ${network || 'no network'}`, () => {
    assert.equal(clientNetwork(address), network);
  });
}
