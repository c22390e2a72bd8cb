import { lookup as lookUpName, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { LookupFunction, Socket } from 'node:net';
import { buildConnector } from 'undici';
import { isAddressAllowed, UrlNotAllowedError } from './outbound-guard.ts';
import type { AddressPolicy } from './outbound-guard.ts';

/** A name's addresses; rejects when it has none. */
export type ResolveName = (name: string) => Promise<readonly string[]>;

export interface GuardedConnectorOptions {
  policy: AddressPolicy;
  /** For the look-up of the name, TCP and TLS together; kept within half a second. */
  connectTimeoutMs: number;
  /** How a name becomes addresses, for tests. */
  resolveName?: ResolveName | undefined;
  /** Where the open connections are kept count of. */
  sockets: Set<Socket>;
}

/**
 * Connects to addresses that the policy allows, and judges the very address that is connected to: a name cannot lead
 * elsewhere between the judgement and the connection. Node asks `lookup` for names only, so literal addresses are
 * judged beside it. Refuses with UrlNotAllowedError.
 */
export function guardedConnector(options: GuardedConnectorOptions): buildConnector.connector {
  const { policy, connectTimeoutMs, sockets, resolveName = defaultResolver(policy) } = options;
  const connect = buildConnector({
    timeout: connectTimeoutMs,
    lookup: guardedLookup(policy, resolveName),
    allowH2: false,
    minVersion: 'TLSv1.2',
    // Said out loud, so that no environment variable switches it off.
    rejectUnauthorized: true,
  });
  return (target, callback) => {
    if (isIP(target.hostname) !== 0 && !isAddressAllowed(target.hostname, policy)) {
      callback(blockedAddress(), null);
      return;
    }
    connect(target, (error, socket) => {
      if (error !== null) {
        callback(error, null);
        return;
      }
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      callback(null, socket);
    });
  };
}

/** One forbidden address among a name's condemns the name: who mixes them is trying out which one we take. */
function guardedLookup(policy: AddressPolicy, resolveName: ResolveName): LookupFunction {
  return (name, { all }, callback) => {
    resolveName(name).then(
      (addresses) => {
        const [first] = addresses;
        if (first === undefined) callback(noAddress(), '');
        else if (!addresses.every((address) => isAddressAllowed(address, policy))) callback(blockedAddress(), '');
        else if (all === true)
          callback(
            null,
            addresses.map((address) => ({ address, family: isIP(address) })),
          );
        else callback(null, first, isIP(first));
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    );
  };
}

/**
 * A production server asks the name servers itself: the operating system's look-up would hold one of the process's few
 * threads for as long as somebody's name server cares to be silent. A development server wants the hosts file too.
 */
function defaultResolver(policy: AddressPolicy): ResolveName {
  if (policy.allowPrivate) {
    return async (name) => (await lookUpName(name, { all: true })).map((found) => found.address);
  }
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  return async (name) => {
    const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = found.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length === 0) throw noAddress();
    return addresses;
  };
}

function blockedAddress(): Error {
  return new UrlNotAllowedError('address', 'The name leads to a private or reserved address.');
}

function noAddress(): NodeJS.ErrnoException {
  return Object.assign(new Error('The name has no address.'), { code: 'ENOTFOUND' });
}
