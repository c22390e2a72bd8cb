import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Config } from './config.ts';
import { outboundPolicy } from '../kit/outbound-guard.ts';
import type { AddressPolicy, OutboundPolicy } from '../kit/outbound-guard.ts';

type OwnHosts = Required<Pick<AddressPolicy, 'refusedAddresses' | 'refusedNames'>>;

/**
 * What nobody may make us call on a production server, public or not: this machine's own addresses, behind which the
 * operator's services listen, and where this service and its database are reached.
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

/** What the merchants of each environment may make this server call, wherever their URLs are taken. */
export function urlPolicyOf(config: Config): (testMode: boolean) => OutboundPolicy {
  const refused = ownHosts(config);
  return (testMode) => ({ ...outboundPolicy({ production: config.production, testMode }), ...refused });
}

/** A database's may also stand in `host`, as a directory of sockets too, and several with commas between. */
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
