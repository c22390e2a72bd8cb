import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { UsageError } from '../../server/src/kit/command-line.ts';
import { assertUrlAllowed, isAddressAllowed, UrlNotAllowedError } from '../../server/src/kit/outbound-guard.ts';
import { CommandFailure } from '../command.ts';

/** A receiver that the check may send requests to. */
export interface OwnReceiver {
  url: URL;
  /** Only these are connected to: the name may resolve to another address later. */
  addresses: string[];
}

interface ReadOptions {
  /** Whether --yes-it-is-mine is given. */
  isClaimed: boolean;
  /** How a name becomes addresses, for tests. */
  resolveName?: (name: string) => Promise<string[]>;
}

/**
 * The developer's own receiver: on this machine or a private network, or anywhere with --yes-it-is-mine. Throws
 * UsageError.
 */
export async function readOwnReceiver(text: string, options: ReadOptions): Promise<OwnReceiver> {
  const { isClaimed, resolveName = addressesOf } = options;
  const url = readWebAddress(text);
  const addresses = await resolveName(url.hostname);
  if (addresses.length === 0) throw new CommandFailure(`The name ${url.hostname} has no address.`);
  for (const address of addresses) {
    // Metadata services of clouds are always refused.
    if (!isAddressAllowed(address, { allowPrivate: true })) {
      throw new UsageError(`${url.hostname} resolves to ${address}, which a receiver cannot use.`);
    }
    if (!isClaimed && isAddressAllowed(address, { allowPrivate: false })) {
      throw new UsageError(
        `${url.hostname} is not on this machine or its network. These requests imitate attacks: send them only to a ` +
          'server of your own. If it is yours, add --yes-it-is-mine.',
      );
    }
  }
  return { url, addresses };
}

function readWebAddress(text: string): URL {
  try {
    return assertUrlAllowed(text, { allowPrivate: true, httpsOnly: false });
  } catch (error) {
    if (error instanceof UrlNotAllowedError) throw new UsageError(error.message);
    throw error;
  }
}

async function addressesOf(hostname: string): Promise<string[]> {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(bare) !== 0) return [bare];
  const found = await lookup(bare, { all: true }).catch(() => []);
  return found.map(({ address }) => address);
}
