import { AppError } from '../api/app-error.ts';
import { withCheckedIds } from './checked-connector.ts';
import type { Connector } from './contract.ts';

/** The connected networks of both environments. */
export interface NetworkRegistry {
  /** In the order in which payers see them. */
  list(testMode: boolean): readonly Connector[];
  find(network: string, testMode: boolean): Connector | undefined;
  /** By the name in a callback's URL. */
  findByCallbackName(name: string): Connector | undefined;
}

/** The connector's name in the URL of its callbacks: `wave-test`, `wave`. */
export function callbackName(connector: Connector): string {
  const { network, testMode } = connector.capabilities;
  return testMode ? `${network}-test` : network;
}

export function createNetworkRegistry(uncheckedConnectors: readonly Connector[]): NetworkRegistry {
  const connectors = uncheckedConnectors.map(withCheckedIds);
  const byName = new Map(connectors.map((connector) => [callbackName(connector), connector]));
  const test = connectors.filter((connector) => connector.capabilities.testMode);
  const live = connectors.filter((connector) => !connector.capabilities.testMode);
  return {
    list: (testMode) => (testMode ? test : live),
    find: (network, testMode) => (testMode ? test : live).find(({ capabilities }) => capabilities.network === network),
    findByCallbackName: (name) => byName.get(name),
  };
}

/**
 * Throws AppError `network_not_available` (naming the field `path`, if given) if no network is connected in the merchant's
 * environment, as on a server without live networks. The error is not stored under the idempotency key, because it
 * passes without a change of the request.
 */
export function refuseWithoutNetwork(networks: NetworkRegistry, merchant: { testMode: boolean }, path?: string): void {
  if (networks.list(merchant.testMode).length > 0) return;
  const environment = merchant.testMode ? 'test' : 'live';
  const advice = merchant.testMode ? '' : ', or use a test key meanwhile';
  const message = `No ${environment} network is connected to this server yet. Ask its operator to connect one${advice}.`;
  const fields = path === undefined ? {} : { fields: [{ path, message }] };
  throw new AppError('network_not_available', message, { ...fields, stored: false });
}
