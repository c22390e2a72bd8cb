import { BlockList, isIP } from 'node:net';
import { rewrittenByParsers } from './linkable-url.ts';

/** Which addresses the service may be made to call. */
export interface AddressPolicy {
  /** True on a development server, which may call this machine and its network. */
  allowPrivate: boolean;
  /** Other refused addresses and networks (`203.0.113.7`, `10.8.0.0/16`): the server's own, the database's. */
  refusedAddresses?: readonly string[];
  /** Other refused names, in lower case: the server's own, the database's. */
  refusedNames?: readonly string[];
}

/** Which URLs it may be made to call. */
export interface OutboundPolicy extends AddressPolicy {
  httpsOnly: boolean;
  /** True for pages that only a browser opens: their port is their owner's choice. */
  anyPort?: boolean;
}

export type UrlRefusal = 'malformed' | 'too_long' | 'scheme' | 'credentials' | 'port' | 'address' | 'name';

/** A URL that may not be called. The message is for whoever chose the URL and says nothing about this network. */
export class UrlNotAllowedError extends Error {
  override name = 'UrlNotAllowedError';
  readonly reason: UrlRefusal;

  constructor(reason: UrlRefusal, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** In characters (docs/api.md, "URLs"). */
export const urlLengthMax = 2_048;

// Web servers only. Other ports would let anybody probe databases, mail and management services from this server.
const portsAllowed = new Set(['', '80', '443', '8080', '8443']);

/**
 * Checks what a URL shows without a look-up: its form, literal addresses in every spelling, and names that always mean this
 * machine or its network. What a name resolves to is checked when the connection is made.
 *
 * @throws UrlNotAllowedError
 */
export function assertUrlAllowed(text: string, policy: OutboundPolicy): URL {
  if (text.length > urlLengthMax) {
    throw new UrlNotAllowedError('too_long', `The URL may have at most ${urlLengthMax} characters.`);
  }
  const url = parseUrl(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new UrlNotAllowedError('scheme', 'The URL must start with https:// or http://.');
  }
  if (policy.httpsOnly && url.protocol !== 'https:') {
    throw new UrlNotAllowedError('scheme', 'In live the URL must start with https://.');
  }
  if (url.username !== '' || url.password !== '') {
    throw new UrlNotAllowedError('credentials', 'The URL must not hold a user name or a password.');
  }
  // Before the port: another port would not help a forbidden address.
  assertHostAllowed(url.hostname, policy);
  if (url.port === '0') throw new UrlNotAllowedError('port', 'The URL must not use port 0, where nobody can listen.');
  if (!policy.allowPrivate && !policy.anyPort && !portsAllowed.has(url.port)) {
    throw new UrlNotAllowedError('port', 'The URL may use the ports 443, 80, 8443 and 8080 only.');
  }
  return url;
}

function parseUrl(text: string): URL {
  const url = rewrittenByParsers.test(text) ? null : URL.parse(text);
  if (url === null || url.hostname === '') {
    throw new UrlNotAllowedError(
      'malformed',
      'The URL is not a complete web address such as https://shop.example/hook.',
    );
  }
  return url;
}

function assertHostAllowed(hostname: string, policy: AddressPolicy): void {
  const literal = literalAddress(hostname);
  if (literal !== undefined) {
    if (isAddressAllowed(literal, policy)) return;
    throw new UrlNotAllowedError('address', 'The URL must not lead to a private or reserved address.');
  }
  const name = hostname.replace(/\.+$/, '').toLowerCase();
  const isRefused = name === '' || metadataNames.has(name) || (policy.refusedNames ?? none).includes(name);
  if (isRefused || (!policy.allowPrivate && isReservedName(name))) {
    throw new UrlNotAllowedError('name', 'The URL must not lead to this server or to a private network.');
  }
}

/** The parser has already normalized every spelling: octal, hexadecimal, short, full-width, mapped. */
function literalAddress(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') && hostname.endsWith(']') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? undefined : bare;
}

const metadataNames = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'metadata.azure.internal',
  'metadata.tencentyun.com',
  'instance-data',
  'instance-data.ec2.internal',
]);

/**
 * Top-level labels that the public DNS does not have, so that a local network may define them. `example` is left out: it never
 * resolves either (RFC 6761), and first attempts use it.
 */
const reservedEndings = new Set([
  // IANA's registry of special-use domain names: RFC 6761, 6762, 7686, 9476. `arpa` with `home.arpa` (RFC 8375),
  // `service.arpa` (RFC 9665) and the others holds infrastructure, no host (RFC 3172).
  ...['localhost', 'invalid', 'test', 'local', 'onion', 'alt', 'arpa'],
  // Set aside by ICANN: for private use (2024), and never to be delegated because of name collisions (2018).
  ...['internal', 'corp', 'home', 'mail'],
  // RFC 6762, appendix G: what home and office networks use.
  ...['intranet', 'private', 'lan', 'localdomain'],
  // What cluster and container resolvers answer: Kubernetes, Consul, Docker.
  ...['svc', 'cluster', 'pod', 'consul', 'docker'],
]);

/** Whether a name can only belong to a local network: reserved ones, and names without a dot. */
export function isReservedName(name: string): boolean {
  const labels = name.replace(/\.+$/, '').toLowerCase().split('.');
  return labels.length === 1 || reservedEndings.has(labels.at(-1) ?? '');
}

/** Whether the address may be connected to. Text that is not an address is not allowed. */
export function isAddressAllowed(address: string, policy: AddressPolicy): boolean {
  const version = isIP(address);
  // An address with a zone (fe80::1%eth0) is link-local.
  if (version === 0 || address.includes('%')) return false;
  const family = version === 6 ? 'ipv6' : 'ipv4';
  if (blockedNetworks.check(address, family)) return false;
  if (refusedBy(policy).check(address, family)) return false;
  if (privateNetworks.check(address, family)) return policy.allowPrivate;
  return family === 'ipv4' || globalUnicast.check(address, 'ipv6');
}

function blockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

const refusedLists = new WeakMap<readonly string[], BlockList>();
const none: readonly string[] = [];

function refusedBy(policy: AddressPolicy): BlockList {
  const addresses = policy.refusedAddresses ?? none;
  const list = refusedLists.get(addresses) ?? blockList(addresses);
  refusedLists.set(addresses, list);
  return list;
}

/** This machine and private networks: a development server may call them. */
const privateNetworks = blockList([
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::1',
  'fc00::/7',
]);

/**
 * Never called, not even by a development server: cloud metadata services (which return credentials), multicast, and what
 * IANA's special-purpose registries reserve.
 */
const blockedNetworks = blockList([
  '0.0.0.0/8',
  // Link-local, with most clouds' metadata service at 169.254.169.254.
  '169.254.0.0/16',
  // Metadata and host services outside it: Alibaba, Azure, AWS and Google over IPv6.
  '100.100.100.200',
  '168.63.129.16',
  'fd00:ec2::/32',
  'fd20:ce::/32',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // Inside global unicast: protocol assignments with Teredo, documentation, 6to4.
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
]);

/** All public IPv6 addresses: mapped, compatible, NAT64, link-local and multicast ones lie outside. */
const globalUnicast = blockList(['2000::/3']);
