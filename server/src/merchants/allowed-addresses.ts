import { SocketAddress, isIPv4, isIPv6 } from 'node:net';
import { addressNumber, bareAddress } from '../kit/client-address.ts';

const addressBits = 128;
// The first 96 bits of an IPv4 address written as IPv6 say only that it is one.
const mappedBits = 96;

/**
 * The shortest form of an address or a network: `2001:db8::/32` for `2001:0DB8::/32`, `192.0.2.7` for `::ffff:192.0.2.7`. Null
 * for everything else, such as `192.0.2.7/24`, of which nobody knows whether the address or its network was meant.
 */
export function shortestNetwork(text: string): string | null {
  const [, sent = '', length] = /^([0-9a-f.:]{1,45})(?:\/(\d{1,3}))?$/i.exec(text.trim()) ?? [];
  const bare = bareAddress(sent);
  if (bare === null || (!isIPv4(sent) && !isIPv6(sent))) return null;
  const sentBits = length === undefined ? addressBits : Number(length) + (isIPv4(sent) ? mappedBits : 0);
  const ownBits = isIPv4(bare) ? mappedBits : 0;
  if (sentBits < ownBits || sentBits > addressBits) return null;
  if (BigInt.asUintN(addressBits - sentBits, addressNumber(bare)) !== 0n) return null;
  const address = isIPv4(bare) ? bare : new SocketAddress({ address: bare, family: 'ipv6' }).address;
  return sentBits === addressBits ? address : `${address}/${sentBits - ownBits}`;
}

/** Whether a client is at one of the addresses or in one of the networks, in their shortest form. */
export function addressFilter(networks: readonly string[]): (client: string | null) => boolean {
  const ranges = networks.map((network) => {
    const [first = '', length] = network.split('/');
    const bits = length === undefined ? addressBits : Number(length) + (isIPv4(first) ? mappedBits : 0);
    const hostBits = BigInt(addressBits - bits);
    return { prefix: addressNumber(first) >> hostBits, hostBits };
  });
  return (client) => {
    if (client === null) return false;
    const number = addressNumber(client);
    return ranges.some(({ prefix, hostBits }) => number >> hostBits === prefix);
  };
}
