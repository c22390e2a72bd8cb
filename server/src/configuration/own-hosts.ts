import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Config } from './config.ts';
import { outboundPolicy } from '../api/urls.ts';
import type { AddressPolicy, OutboundPolicy } from '../kit/outbound-guard.ts';

type OwnHosts = Required<Pick<AddressPolicy, 'refusedAddresses' | 'refusedNames'>>;

/**
 * The hosts that no merchant may make a production server call, public or not: the addresses of this machine, where other
 * services of the operator may listen, and the hosts of this service and its database.
 */
export function ownHosts(config: Config): OwnHosts {
  if (!config.production) return { refusedAddresses: [], refusedNames: [] };
  const { publicUrl, internalUrl, databaseUrl, appDatabaseUrl } = config;
  const hosts = [publicUrl, internalUrl, databaseUrl, appDatabaseUrl].flatMap(hostsOf);
  const interfaces = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses);
  return {
    refusedAddresses: [...interfaces.map(({ address }) => address), ...hosts.filter((host) => isIP(host) !== 0)],
    refusedNames: hosts.filter((host) => isIP(host) === 0),
  };
}

/** The policy for URLs of merchants, by environment. */
export function urlPolicyOf(config: Config): (testMode: boolean) => OutboundPolicy {
  const refused = ownHosts(config);
  return (testMode) => ({ ...outboundPolicy({ production: config.production, testMode }), ...refused });
}

/** A database URL may also name hosts in `host`: several with commas, or a directory of sockets. */
function hostsOf(url: string | null): string[] {
  if (url === null) return [];
  const { hostname, searchParams } = new URL(url);
  const written = [hostname, ...searchParams.getAll('host'), ...searchParams.getAll('hostaddr')];
  return written
    .flatMap((host) => decodeURIComponent(host).split(','))
    .map((host) =>
      host
        .trim()
        .replace(/^\[|\]$/g, '')
        .replace(/\.+$/, '')
        .toLowerCase(),
    )
    .filter((host) => host !== '' && !host.startsWith('/'));
}
