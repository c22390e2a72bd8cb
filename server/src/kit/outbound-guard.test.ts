import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertUrlAllowed, isAddressAllowed, outboundPolicy, UrlNotAllowedError } from './outbound-guard.ts';
import type { OutboundPolicy } from './outbound-guard.ts';

const production = outboundPolicy({ production: true, testMode: true });
const live = outboundPolicy({ production: true, testMode: false });
const development = outboundPolicy({ production: false, testMode: true });

function refusal(url: string, policy: OutboundPolicy): string {
  try {
    assertUrlAllowed(url, policy);
    return 'allowed';
  } catch (error) {
    assert.ok(error instanceof UrlNotAllowedError, String(error));
    assert.match(error.message, /^[A-Z].*\.$/);
    return error.reason;
  }
}

/** Every spelling of an address that a URL parser or a resolver may turn into one of ours. */
const privateHosts = [
  // Loopback: decimal, octal, hexadecimal, short, mixed, with a trailing dot, full-width, ideographic dots, encoded.
  ...['127.0.0.1', '127.1', '127.0.1', '127.255.255.254', '2130706433', '017700000001', '0x7f000001', '0x7f.1'],
  ...['0x7F.0x0.0x0.0x1', '0177.0.0.1', '0177.1', '127.0x1', '00000177.0.0.1', '127.0.0.1.', '１２７.０.０.１'],
  ...['127。0。0。1', '127．0．0．1', '127｡0｡0｡1', '①②⑦.0.0.1', '%31%32%37.0.0.1', '127.0.0.%31'],
  // "This network".
  ...['0', '0.0.0.0', '0x0', '00', '0.1.2.3', '000.000.000.000'],
  // Private, shared and link-local networks with their edges.
  ...['10.0.0.1', '10.255.255.255', '012.0.0.1', '167772161', '172.16.0.1', '172.31.255.255', '192.168.0.1'],
  ...['192.168.255.255', '0xc0a80001', '3232235521', '100.64.0.1', '100.127.255.255', '169.254.0.1', '169.254.255.255'],
  // Metadata services.
  ...['169.254.169.254', '2852039166', '0xa9fea9fe', '0xA9.0xFE.0xA9.0xFE', '0251.0376.0251.0376', '169.254.43518'],
  ...['100.100.100.200', '168.63.129.16', '192.0.0.192', '[fd00:ec2::254]', '[fd20:ce::254]'],
  // Special-purpose IPv4.
  ...['192.0.0.1', '192.0.2.1', '192.88.99.1', '198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.1'],
  ...['224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', '4294967295'],
  // IPv6: unspecified, loopback, mapped, compatible, translated, NAT64, 6to4, Teredo, local, multicast, documentation.
  ...['[::]', '[::1]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::ffff:10.0.0.1]'],
  ...['[0:0:0:0:0:ffff:a9fe:a9fe]', '[::ffff:8.8.8.8]', '[::127.0.0.1]', '[::7f00:1]', '[::ffff:0:7f00:1]'],
  ...[
    '[64:ff9b::7f00:1]',
    '[64:ff9b::169.254.169.254]',
    '[64:ff9b:1::a00:1]',
    '[2002:7f00:1::]',
    '[2002:a9fe:a9fe::1]',
  ],
  ...['[2001::1]', '[2001:0:7f00:1::]', '[2001:10::1]', '[2001:db8::1]', '[3fff::1]', '[fc00::1]', '[fd12:3456::1]'],
  ...['[fe80::1]', '[febf::1]', '[fec0::1]', '[ff02::1]', '[100::1]', '[5f00::1]'],
];

const privateNames = [
  ...[
    'localhost',
    'LOCALHOST',
    'localhost.',
    'ｌｏｃａｌｈｏｓｔ',
    'app.localhost',
    'localhost.localdomain',
    'printer.local',
  ],
  ...[
    'metadata.google.internal',
    'METADATA.google.internal.',
    'metadata',
    'db.internal',
    'router.lan',
    'nas.home.arpa',
  ],
  ...['intranet', 'postgres', 'kubernetes.default.svc.cluster.local', 'git.corp', 'a.b.intranet', 'ip6-localhost'],
];

describe('the outbound guard on a production server', () => {
  it('refuses every spelling of a private or reserved address', () => {
    assert.ok(privateHosts.length >= 80);
    for (const host of privateHosts) {
      for (const url of [`http://${host}/`, `https://${host}:8443/hook?a=b#c`]) {
        assert.equal(refusal(url, production), 'address', url);
      }
    }
  });

  it('refuses names that mean this machine or its network', () => {
    for (const name of privateNames) assert.equal(refusal(`https://${name}/hook`, production), 'name', name);
  });

  it('accepts public addresses and names, also names that do not resolve', () => {
    const hosts = [
      ...['shop.gm', 'shop.example', 'example.com.', 'xn--bcher-kva.example', 'bücher.example', 'a-1.b.c.d.example'],
      ...['8.8.8.8', '134209032', '11.0.0.1', '172.15.255.255', '172.32.0.1', '100.63.255.255', '100.128.0.1'],
      ...['169.253.1.1', '192.167.1.1', '126.255.255.255', '128.0.0.1', '223.255.255.255', '[2606:4700::1111]'],
      ...['[2001:4860:4860::8888]', 'localhost.example.com', 'internal.example.com', '127.0.0.1.example.com'],
    ];
    for (const host of hosts) assert.equal(refusal(`https://${host}/hook`, production), 'allowed', host);
  });

  it('refuses what is not a plain web address', () => {
    const cases: [string, string][] = [
      ['', 'malformed'],
      ['shop.example/hook', 'malformed'],
      ['//shop.example/hook', 'malformed'],
      ['https://', 'malformed'],
      ['https://shop .example/', 'malformed'],
      ['https://shop\n.example/', 'malformed'],
      ['\thttps://shop.example/', 'malformed'],
      ['https://shop.example/hook\u0000', 'malformed'],
      ['https:\\\\shop.example\\hook', 'malformed'],
      ['https://shop.example\\@127.0.0.1/', 'malformed'],
      ['https://999.1.1.1/', 'malformed'],
      ['https://[::1/', 'malformed'],
      ['https://[fe80::1%25eth0]/', 'malformed'],
      ['https://shop.example:99999/', 'malformed'],
      ['https://user@shop.example/', 'credentials'],
      ['https://user:password@shop.example/', 'credentials'],
      ['https://:password@shop.example/', 'credentials'],
      ['ftp://shop.example/', 'scheme'],
      ['ws://shop.example/', 'scheme'],
      ['gopher://shop.example/', 'scheme'],
      ['file:///etc/passwd', 'malformed'],
      ['javascript:alert(1)', 'malformed'],
      ['data:text/html,hello', 'malformed'],
      ['shop://done', 'scheme'],
    ];
    for (const [url, reason] of cases) assert.equal(refusal(url, production), reason, JSON.stringify(url));
  });

  it('allows the ports of web servers only', () => {
    for (const port of ['80', '443', '8080', '8443']) {
      assert.equal(refusal(`http://shop.example:${port}/`, production), 'allowed', port);
    }
    for (const port of ['0', '1', '22', '25', '81', '3306', '5432', '6379', '8081', '9200', '65535']) {
      assert.equal(refusal(`https://shop.example:${port}/`, production), 'port', port);
    }
  });

  it('takes 2,048 characters and not one more', () => {
    const url = (length: number) => 'https://shop.example/'.padEnd(length, 'a');
    assert.equal(refusal(url(2_048), production), 'allowed');
    assert.equal(refusal(url(2_049), production), 'too_long');
  });

  it('wants https from live merchants', () => {
    assert.equal(refusal('http://shop.example/', live), 'scheme');
    assert.equal(refusal('https://shop.example/', live), 'allowed');
    assert.equal(refusal('http://shop.example/', production), 'allowed');
  });

  it('refuses the addresses the operator names: its own and the database', () => {
    const policy = { ...production, refusedAddresses: ['8.8.4.4', '9.9.9.0/24', '2606:4700::/32'] };
    for (const host of ['8.8.4.4', '9.9.9.7', '[2606:4700::1111]']) {
      assert.equal(refusal(`https://${host}/`, policy), 'address', host);
    }
    assert.equal(refusal('https://8.8.8.8/', policy), 'allowed');
  });

  it('allows no connection to what is not an address or belongs to a local link', () => {
    for (const address of ['', 'shop.example', '0x7f.1', '127.1', 'fe80::1%eth0', '2606:4700::1%eth0']) {
      assert.equal(isAddressAllowed(address, production), false, address);
    }
  });
});

describe('the outbound guard on a development server', () => {
  it('may call this machine and its network, on any port', () => {
    const hosts = [
      'localhost',
      '127.0.0.1',
      '[::1]',
      '10.1.2.3',
      '192.168.1.5',
      '[fd12::1]',
      'postgres',
      'app.internal',
    ];
    for (const host of hosts) assert.equal(refusal(`http://${host}:3000/hook`, development), 'allowed', host);
  });

  it('still refuses metadata services, credentials and other schemes', () => {
    for (const host of ['169.254.169.254', '[fd00:ec2::254]', '100.100.100.200', '0.0.0.0', '255.255.255.255']) {
      assert.equal(refusal(`http://${host}/`, development), 'address', host);
    }
    assert.equal(refusal('http://metadata.google.internal/', development), 'name');
    assert.equal(refusal('http://a:b@localhost/', development), 'credentials');
    assert.equal(refusal('shop://done', development), 'scheme');
    assert.equal(refusal('http://localhost:0/', development), 'port');
  });
});
