import { AppError } from '../api/app-error.ts';
import { withCheckedIds } from './checked-connector.ts';
import { collects, paysOut } from './contract.ts';
import type { CollectingConnector, Connector, PayoutConnector } from './contract.ts';
import { knownNetworks } from './known-networks.ts';

/** The merchant for which a connector is chosen. */
export interface NetworkUser {
  id: string;
  testMode: boolean;
}

/** The connected networks of both environments. */
export interface NetworkRegistry {
  /** What collects for a merchant: one connector for each network, in the order in which payers see them. */
  collecting(merchant: NetworkUser): readonly CollectingConnector[];
  /** What pays out for a merchant: one connector for each network, in the same order. */
  payingOut(merchant: NetworkUser): readonly PayoutConnector[];
  /** The connector of one account for one network. It stays connected while anything that it has sent is open. */
  find(key: { railAccount: string; network: string }): Connector | undefined;
  /** By the account's name in a callback's URL: any of its connectors reads all of its callbacks. */
  findByAccount(railAccount: string): Connector | undefined;
  /** Every connector of an environment, also several for one network. */
  list(testMode: boolean): readonly Connector[];
}

/** A registry whose connectors an operator changes while the service runs. */
export interface ChangingNetworkRegistry extends NetworkRegistry {
  /** Replaces all connectors, those of both environments. */
  replace(connectors: readonly Connector[]): void;
}

export function createNetworkRegistry(uncheckedConnectors: readonly Connector[]): ChangingNetworkRegistry {
  let connectors = inOrder(uncheckedConnectors);
  const servingFor = ({ id, testMode }: NetworkUser) =>
    connectors.filter(({ capabilities }) => {
      const isServing = capabilities.merchantId === null || capabilities.merchantId === id;
      return isServing && capabilities.testMode === testMode;
    });
  return {
    collecting: (merchant) => firstOfEachNetwork(servingFor(merchant).filter(collects)),
    payingOut: (merchant) => firstOfEachNetwork(servingFor(merchant).filter(paysOut)),
    find: ({ railAccount, network }) =>
      ofNetwork(
        connectors.filter(({ capabilities }) => capabilities.railAccount === railAccount),
        network,
      ),
    findByAccount: (railAccount) => connectors.find(({ capabilities }) => capabilities.railAccount === railAccount),
    list: (testMode) => connectors.filter(({ capabilities }) => capabilities.testMode === testMode),
    replace: (replaced) => {
      connectors = inOrder(replaced);
    },
  };
}

/** Live before test, then by network, and of one network a merchant's own accounts before the operator's. */
function inOrder(connectors: readonly Connector[]): Connector[] {
  const ranks = ({ capabilities: { testMode, network, merchantId } }: Connector): readonly number[] => [
    testMode ? 1 : 0,
    knownNetworks.findIndex(({ id }) => id === network),
    merchantId === null ? 1 : 0,
  ];
  return connectors.map(withCheckedIds).toSorted((one, other) => compareRanks(ranks(one), ranks(other)));
}

function compareRanks(one: readonly number[], other: readonly number[]): number {
  return one.map((rank, index) => rank - (other[index] ?? 0)).find((difference) => difference !== 0) ?? 0;
}

/**
 * The connector that collects a charge: of the account that it names. A charge of a release that had one account for each
 * network names none.
 */
export function findCollecting(
  networks: NetworkRegistry,
  merchant: NetworkUser,
  { network, railAccount }: { network: string; railAccount: string | null },
): CollectingConnector | undefined {
  const found =
    railAccount === null ? ofNetwork(networks.collecting(merchant), network) : networks.find({ railAccount, network });
  return found && collects(found) ? found : undefined;
}

/** Among connectors with one for each network. */
export function ofNetwork<Kind extends Connector>(connectors: readonly Kind[], network: string): Kind | undefined {
  return connectors.find(({ capabilities }) => capabilities.network === network);
}

function firstOfEachNetwork<Kind extends Connector>(connectors: readonly Kind[]): Kind[] {
  const byNetwork = new Map<string, Kind>();
  for (const connector of connectors) {
    const { network } = connector.capabilities;
    if (!byNetwork.has(network)) byNetwork.set(network, connector);
  }
  return [...byNetwork.values()];
}

/**
 * Throws AppError `network_not_available` (naming the field `path`, if given) if no network is connected for the merchant,
 * as on a server without live networks. The error is not stored under the idempotency key, because it passes without a
 * change of the request.
 */
export function refuseWithoutNetwork(networks: NetworkRegistry, merchant: NetworkUser, path?: string): void {
  if (networks.collecting(merchant).length > 0 || networks.payingOut(merchant).length > 0) return;
  const environment = merchant.testMode ? 'test' : 'live';
  const advice = merchant.testMode ? '' : ', or use a test key meanwhile';
  const message = `No ${environment} network is connected to this server yet. Ask its operator to connect one${advice}.`;
  const fields = path === undefined ? {} : { fields: [{ path, message }] };
  throw new AppError('network_not_available', message, { ...fields, stored: false });
}
