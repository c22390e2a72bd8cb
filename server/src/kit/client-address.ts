import { isIPv4, isIPv6 } from 'node:net';

// Providers assign a customer at least a /64 (RFC 6177), so one client can use all 2^64 addresses of it.
const networkGroups = 4;
const groupsOfAddress = 8;

// The client chooses such a text: a limit for each of them would be no limit.
const unknownNetwork = 'unknown';

/**
 * The key under which a limit counts a client address: the IPv4 address, or the /64 network of an IPv6 address as
 * `2001:db8:0:0::/64`. `address` is Fastify's `request.ip`, which is undefined once the client has disconnected; some proxies
 * append a port. Everything that is not an address, which a trusted proxy may pass on from its client, shares the key `unknown`.
 */
export function clientNetwork(address: string | undefined): string {
  if (address === undefined) return '';
  const bare = bareAddress(address);
  if (bare === null) return unknownNetwork;
  if (isIPv4(bare)) return bare;
  return `${groupsOf(bare).slice(0, networkGroups).join(':')}::/64`;
}

/** The address without a port and a zone, an IPv4 address in its own form; null for everything that is not an address. */
export function bareAddress(address: string): string | null {
  const [bare = ''] = withoutPort(address).split('%');
  if (isIPv4(bare)) return bare;
  return isIPv6(bare) ? (mappedIPv4(groupsOf(bare)) ?? bare.toLowerCase()) : null;
}

/** A bare address as a number of 128 bits, in which IPv4 has its range of IPv6 (`::ffff:0:0/96`). */
export function addressNumber(bare: string): bigint {
  const groups = groupsOf(isIPv4(bare) ? `::ffff:${bare}` : bare);
  return BigInt(`0x${groups.map((group) => group.padStart(4, '0')).join('')}`);
}

/** The IPv4 address in `::ffff:192.0.2.7`, which is also written `::ffff:c000:207` (RFC 4291, 2.5.5.2). */
function mappedIPv4(groups: readonly string[]): string | undefined {
  const mapped = groups.slice(0, -2).join(':') === '0:0:0:0:0:ffff';
  if (!mapped) return undefined;
  const bytes = groups.slice(-2).flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
  return bytes.join('.');
}

function withoutPort(address: string): string {
  const [, host] = /^\[([^\]]+)\](?::\d+)?$/.exec(address) ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(address) ?? [];
  return host ?? address;
}

/** All eight groups in hexadecimal, without leading zeros. */
function groupsOf(address: string): string[] {
  const [head = '', tail] = address
    .toLowerCase()
    .replace(/\d+\.\d+\.\d+\.\d+$/, inHexadecimal)
    .split('::');
  const split = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const [before, after] = [split(head), split(tail ?? '')];
  const missing = tail === undefined ? 0 : groupsOfAddress - before.length - after.length;
  const zeros = Array.from({ length: Math.max(0, missing) }, () => '0');
  return [...before, ...zeros, ...after].map((group) => group.replace(/^0+(?=.)/, ''));
}

/** The IPv4 address at the end of an IPv6 address as the two groups that it stands for. */
function inHexadecimal(address: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}
