/** A place that merchants may not make us call, in every spelling that a parser or a resolver makes it of. */
export interface ForbiddenAddress {
  /** As a name server would answer it. */
  address: string;
  /** As hosts of a URL. */
  spellings: readonly string[];
  /** What a development server thinks of it. */
  development: 'allowed' | 'refused';
}

function privately(address: string, ...others: string[]): ForbiddenAddress {
  return { address, spellings: [asHost(address), ...others], development: 'allowed' };
}

function never(address: string, ...others: string[]): ForbiddenAddress {
  return { address, spellings: [asHost(address), ...others], development: 'refused' };
}

const asHost = (address: string): string => (address.includes(':') ? `[${address}]` : address);

export const forbiddenAddresses: readonly ForbiddenAddress[] = [
  // Loopback: short, decimal, octal, hexadecimal, mixed, with a trailing dot.
  privately('127.0.0.1', '127.1', '127.0.1', '2130706433', '017700000001', '0x7f000001', '0X7F000001', '0x7f.1'),
  privately(
    '127.0.0.1',
    '0x7F.0x0.0x0.0x1',
    '0177.0.0.1',
    '0177.1',
    '127.0x1',
    '00000177.0.0.1',
    '127.0.0.1.',
    '127.1.',
  ),
  // Full-width, circled, mathematical and superscript digits, ideographic dots, percent signs, a soft hyphen.
  privately('127.0.0.1', '１２７.０.０.１', '127。0。0。1', '127．0．0．1', '127｡0｡0｡1', '①②⑦.0.0.1', '𝟏𝟐𝟕.𝟎.𝟎.𝟏'),
  privately('127.0.0.1', '%31%32%37.0.0.1', '127.0.0.%31', '127%2e0%2e0%2e1', '127%E3%80%820%E3%80%820%E3%80%821'),
  privately('127.0.0.1', '¹²⁷.0.0.1', '12\u00AD7.0.0.1', '127\u200B.0.0.1', '０ｘ７ｆ.1'),
  privately('127.255.255.254', '127.16777214', '0x7ffffffe'),
  privately('10.0.0.1', '012.0.0.1', '167772161', '0xa.1', '10.1'),
  privately('10.255.255.255'),
  privately('172.16.0.1', '2886729729', '0xac100001'),
  privately('172.31.255.255'),
  privately('192.168.0.1', '0xc0a80001', '3232235521', '192.168.1'),
  privately('192.168.255.255', '192.11075583', '0300.0250.65535'),
  privately('100.64.0.1', '1681915905'),
  privately('100.127.255.255'),
  privately('::1', '[0:0:0:0:0:0:0:1]', '[0000::0001]', '[::0.0.0.1]'),
  privately('fc00::1'),
  privately('fd12:3456::1'),
  // "This network", which connects to this machine.
  never('0.0.0.0', '0', '00', '0x0', '0x', '000.000.000.000', '０'),
  never('0.1.2.3', '66051'),
  // Link-local and the metadata services, there and elsewhere.
  never('169.254.169.254', '2852039166', '0xa9fea9fe', '0xA9.0xFE.0xA9.0xFE', '0251.0376.0251.0376', '169.254.43518'),
  never('169.254.0.1'),
  never('169.254.255.255'),
  never('100.100.100.200', '1684301000'),
  never('168.63.129.16'),
  never('192.0.0.192', '0xc00000c0'),
  never('fd00:ec2::254', '[fd00:0ec2:0:0:0:0:0:254]', '[FD00:EC2::254]'),
  never('fd20:ce::254'),
  // Special-purpose IPv4.
  never('192.0.0.1'),
  never('192.0.2.1'),
  never('192.88.99.1'),
  never('198.18.0.1'),
  never('198.19.255.255'),
  never('198.51.100.1'),
  never('203.0.113.1'),
  never('224.0.0.1'),
  never('239.255.255.255', '4026531839'),
  never('240.0.0.1', '0xf0000001'),
  never('255.255.255.255', '4294967295', '0xffffffff', '037777777777'),
  // IPv6 that holds IPv4: mapped, compatible, translated, NAT64, 6to4, Teredo. Public ones have an address of their own.
  // A mapped private address is as allowed on a development server as the address itself.
  privately('::ffff:127.0.0.1', '[::ffff:7f00:1]', '[0:0:0:0:0:ffff:7f00:0001]', '[::FFFF:127.0.0.1]'),
  privately('::ffff:10.0.0.1', '[::ffff:a00:1]'),
  never('::ffff:169.254.169.254', '[0:0:0:0:0:ffff:a9fe:a9fe]'),
  never('::ffff:8.8.8.8'),
  never('::127.0.0.1', '[::7f00:1]'),
  never('::ffff:0:7f00:1', '[::ffff:0:127.0.0.1]'),
  never('64:ff9b::7f00:1', '[64:ff9b::127.0.0.1]', '[64:ff9b:0:0:0:0:7f00:1]'),
  never('64:ff9b::a9fe:a9fe', '[64:ff9b::169.254.169.254]'),
  never('64:ff9b:1::a00:1', '[64:ff9b:1:ffff::10.0.0.1]'),
  never('2002:7f00:1::'),
  never('2002:a9fe:a9fe::1'),
  never('2001::1', '[2001:0:7f00:1::]', '[2001:0000:4136:e378:8000:63bf:3fff:fdd2]'),
  // The rest of IPv6 that is not public: unspecified, ORCHID, documentation, link- and site-local, multicast, discard.
  never('::', '[0:0:0:0:0:0:0:0]', '[::0.0.0.0]'),
  never('2001:10::1'),
  never('2001:20::1'),
  never('2001:2::1'),
  never('2001:db8::1'),
  never('3fff::1'),
  never('fe80::1'),
  never('febf::1'),
  never('fec0::1'),
  never('ff02::1'),
  never('ff0e::1'),
  never('100::1'),
  never('5f00::1'),
  never('4000::1'),
];

/** Names that mean this machine or its network, whatever a name server says. */
export const localNames: readonly string[] = [
  ...['localhost', 'LOCALHOST', 'localhost.', 'ｌｏｃａｌｈｏｓｔ', 'loc%61lhost', 'app.localhost', 'a.b.localhost.'],
  ...[
    'localhost.localdomain',
    'localhost6',
    'ip6-localhost',
    'printer.local',
    'db.internal',
    'router.lan',
    'nas.home.arpa',
  ],
  ...[
    'intranet',
    'postgres',
    'host.docker.internal',
    'kubernetes.default.svc.cluster.local',
    'git.corp',
    'a.b.intranet',
  ],
  // Special-use and never delegated names (IANA, ICANN), and what cluster resolvers answer.
  ...['shop.test', 'SHOP.TEST.', 'shop.invalid', 'facebookcorewwwi.onion', 'shop.alt', '1.0.0.127.in-addr.arpa'],
  ...['device.service.arpa', 'owa.mail', 'nas.home', 'pc.private', 'kubernetes.default.svc', 'db.service.consul'],
  ...['app.docker', 'shop.ｔｅｓｔ', 'payments.svc.'],
];

/** Names under which clouds hand out a machine's credentials. */
export const metadataNames: readonly string[] = [
  ...['metadata', 'metadata.google.internal', 'METADATA.google.internal.', 'metadata.goog', 'metadata.azure.internal'],
  ...['instance-data', 'instance-data.ec2.internal', 'ｍetadata。goog'],
];

/** Every spelling of every place. */
export const forbiddenHosts: readonly string[] = forbiddenAddresses.flatMap(({ spellings }) => spellings);
