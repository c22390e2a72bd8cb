import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { UsageError } from '../../server/src/kit/command-line.ts';
import { assertUrlAllowed, isAddressAllowed, UrlNotAllowedError } from '../../server/src/kit/outbound-guard.ts';
import { CommandFailure } from '../command.ts';

/** A receiver that may be fired at. */
export interface OwnReceiver {
  url: URL;
  /** Of which one is connected to, and no other: a name may lead elsewhere a moment later. */
  addresses: string[];
}

interface ReadOptions {
  /** Whether the person has said that it is theirs. */
  isClaimed: boolean;
  /** How a name becomes addresses, for tests. */
  resolveName?: (name: string) => Promise<string[]>;
}

/**
 * The person's own receiver. On this machine and on private networks it is taken to be theirs; of any other they have
 * to say so. Throws UsageError.
 */
export async function readOwnReceiver(text: string, options: ReadOptions): Promise<OwnReceiver> {
  const { isClaimed, resolveName = addressesOf } = options;
  const url = readWebAddress(text);
  const addresses = await resolveName(url.hostname);
  if (addresses.length === 0) throw new CommandFailure(`There is no address for the name ${url.hostname}.`);
  for (const address of addresses) {
    // Never the metadata services of clouds, whoever says what.
    if (!isAddressAllowed(address, { allowPrivate: true })) {
      throw new UsageError(`${url.hostname} leads to ${address}, which is no address of a receiver.`);
    }
    if (!isClaimed && isAddressAllowed(address, { allowPrivate: false })) {
      throw new UsageError(
        `${url.hostname} is not on this machine or its network. These requests imitate attacks, and nobody may send ` +
          'them to a server of somebody else. If it is yours, add --yes-it-is-mine.',
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
