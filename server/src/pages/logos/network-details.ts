import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError, unreadableFile } from '../../kit/start-error.ts';
import { pngProblem, withoutMetadata } from '../../merchants/logo/png-check.ts';
import { knownNetworks } from '../../networks/known-networks.ts';

/** What the operator has set about networks, by their ids. */
export interface NetworkDetails {
  /** What a payer dials to approve where no prompt comes, such as `*770#`. */
  dialCodes: ReadonlyMap<string, string>;
  /** Shown instead of a network's two letters. */
  logos: ReadonlyMap<string, NetworkLogo>;
}

export interface NetworkLogo {
  png: Buffer;
  /** Changes with the picture, so that browsers may keep it. */
  path: string;
}

/** Throws StartError for a network that there is not, and for a file that is no logo. */
export function readNetworkDetails({
  networkDialCodes: dialCodes,
  networkLogos,
}: {
  networkDialCodes: ReadonlyMap<string, string>;
  networkLogos: string | null;
}): NetworkDetails {
  const known = new Set(knownNetworks.map(({ id }) => id));
  const requireKnown = (setting: string, network: string): void => {
    if (!known.has(network))
      throw new StartError(`${setting} names ${network}. The networks are ${[...known].join(', ')}.`);
  };
  for (const network of dialCodes.keys()) requireKnown('NETWORK_DIAL_CODES', network);
  const files = networkLogos === null ? [] : listPictures(networkLogos);
  const logos = new Map(
    files.map((file) => {
      const network = file.slice(0, -extension.length);
      requireKnown('NETWORK_LOGOS', network);
      return [network, readLogo(join(networkLogos ?? '', file))];
    }),
  );
  return { dialCodes, logos };
}

const extension = '.png';

function readLogo(path: string): NetworkLogo {
  const file = readFileSync(path);
  const problem = pngProblem(file);
  if (problem !== null) throw new StartError(`NETWORK_LOGOS: ${path} ${problem}.`);
  const png = withoutMetadata(file);
  const name = createHash('sha256').update(png).digest('hex').slice(0, 16);
  return { png, path: `/logos/networks/${name}.png` };
}

function listPictures(folder: string): string[] {
  try {
    return readdirSync(folder).filter((file) => file.endsWith(extension));
  } catch (error) {
    throw new StartError(`NETWORK_LOGOS: ${unreadableFile(folder, error)}`);
  }
}
