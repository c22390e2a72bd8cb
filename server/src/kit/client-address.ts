import { isIPv4, isIPv6 } from 'node:net';

// Providers give a customer a /64 at least (RFC 6177): whoever has one address of it has all 2^64.
const networkGroups = 4;
const groupsOfAddress = 8;

/**
 * What a limit for each client address counts by: an IPv4 address, or the /64 network of an IPv6 address as
 * `2001:db8:0:0::/64`. `address` is Fastify's `request.ip`, which is undefined once the client has left; some proxies write a
 * port behind it. A text that is no address, which only a trusted proxy can have written, stands for itself.
 */
export function clientNetwork(address: string | undefined): string {
  if (address === undefined) return '';
  const bare = withoutPort(address);
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1] ?? bare;
  if (isIPv4(mapped)) return mapped;
  const [unscoped = ''] = bare.split('%');
  if (!isIPv6(unscoped)) return address;
  return `${groupsOf(unscoped).slice(0, networkGroups).join(':')}::/64`;
}

function withoutPort(address: string): string {
  const [, host] = /^\[([^\]]+)\](?::\d+)?$/.exec(address) ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(address) ?? [];
  return host ?? address;
}

/** All groups, without leading zeros; an IPv4 address at the end stays one group, which no /64 reaches. */
function groupsOf(address: string): string[] {
  const [head = '', tail] = address.toLowerCase().split('::');
  const split = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const [before, after] = [split(head), split(tail ?? '')];
  const missing = tail === undefined ? 0 : groupsOfAddress - before.length - after.length;
  const zeros = Array.from({ length: Math.max(0, missing) }, () => '0');
  return [...before, ...zeros, ...after].map((group) => group.replace(/^0+(?=.)/, ''));
}
