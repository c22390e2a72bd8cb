import { isIP, type LookupFunction, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import type { Clock } from './clock.ts';
import { ExpiringCache } from './expiring-cache.ts';
import { createNameResolver, type ResolveName } from './name-resolver.ts';
import { limitResponses } from './outbound-response-limit.ts';
import { isAddressAllowed, UrlNotAllowedError, type AddressPolicy } from './outbound-guard.ts';

export interface GuardedConnectorOptions {
  policy: AddressPolicy;
  clock: Clock;
  /** For name resolution, TCP and TLS together; accurate to half a second. */
  connectTimeoutMs: number;
  /** How a name becomes addresses. Default: without threads, see `createNameResolver`. */
  resolveName?: ResolveName | undefined;
  /** The open connections. */
  sockets: Set<Socket>;
}

/**
 * Connects to addresses that the policy allows, and checks the very address that it connects to: a name cannot resolve to
 * another one between the check and the connection. Node calls `lookup` for names only, so literal addresses are checked
 * separately. Fails with UrlNotAllowedError.
 */
export function guardedConnector(options: GuardedConnectorOptions): buildConnector.connector {
  const { policy, clock, connectTimeoutMs, sockets, resolveName = createNameResolver({ clock }) } = options;
  const currentPolicy = policyWithOwnAddresses(options, resolveName);
  const connectBy = (readPolicy: () => Promise<AddressPolicy>): buildConnector.connector =>
    buildConnector({
      timeout: connectTimeoutMs,
      lookup: guardedLookup(readPolicy, resolveName),
      allowH2: false,
      minVersion: 'TLSv1.2',
      // Explicit, so that no environment variable switches it off.
      rejectUnauthorized: true,
    });
  const plain = connectBy(currentPolicy);
  // With TLS the server's own addresses are no danger, because it has no certificate for another name; and a CDN in front of
  // this server may serve another name at the same address.
  const secured = connectBy(async () => policy);
  return (target, callback) => {
    const connect = target.protocol === 'https:' ? secured : plain;
    assertLiteralAllowed(target.hostname, currentPolicy)
      .then(() => {
        connect(target, (error, socket) => {
          if (error !== null) {
            callback(error, null);
            return;
          }
          sockets.add(socket);
          socket.once('close', () => sockets.delete(socket));
          limitResponses(socket);
          callback(null, socket);
        });
      })
      .catch((error: Error) => callback(error, null));
  };
}

async function assertLiteralAllowed(hostname: string, currentPolicy: () => Promise<AddressPolicy>): Promise<void> {
  if (isIP(hostname) !== 0 && !isAddressAllowed(hostname, await currentPolicy())) throw blockedAddress();
}

// How long a change of the server's own addresses may go unnoticed. Resolving each time would double the look-ups.
const ownAddressesLifetimeMs = 60_000;

/** The policy plus the addresses that the refused names resolve to now: other names may resolve to them too. */
function policyWithOwnAddresses(
  { policy, clock }: GuardedConnectorOptions,
  resolveName: ResolveName,
): () => Promise<AddressPolicy> {
  const { refusedNames = [], refusedAddresses = [] } = policy;
  if (refusedNames.length === 0) return async () => policy;
  const cache = new ExpiringCache<AddressPolicy>({ clock, entriesMax: 1, lifetimeMs: ownAddressesLifetimeMs });
  const load = async (): Promise<AddressPolicy> => {
    // A name that does not resolve adds no address.
    const found = await Promise.all(refusedNames.map((name) => resolveName(name).catch(() => [])));
    const addresses = found.flat().filter((address) => isIP(address) !== 0);
    return { ...policy, refusedAddresses: [...refusedAddresses, ...addresses] };
  };
  return async () => (await cache.get('', load)) ?? policy;
}

/** One forbidden address among those of a name refuses the name: a mix is an attempt to get around the check. */
function guardedLookup(readPolicy: () => Promise<AddressPolicy>, resolveName: ResolveName): LookupFunction {
  return (name, { all }, callback) => {
    Promise.all([resolveName(name), readPolicy()]).then(
      ([addresses, policy]) => {
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

function blockedAddress(): Error {
  return new UrlNotAllowedError('address', 'The name leads to a private or reserved address.');
}

function noAddress(): NodeJS.ErrnoException {
  return Object.assign(new Error('The name has no address.'), { code: 'ENOTFOUND' });
}
