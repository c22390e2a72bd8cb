import { withCheckedIds } from './checked-connector.ts';
import type { Connector } from './contract.ts';

/** The networks of one environment, in the order in which the payer is offered them. */
export interface NetworkRegistry {
  /** Those that collect for this merchant's environment. */
  list(testMode: boolean): readonly Connector[];
  find(network: string, testMode: boolean): Connector | undefined;
  /** By the name that stands in a callback's address. */
  findByCallbackName(name: string): Connector | undefined;
}

/** The part of a callback's address that names the connector: `wave-test`, `wave`. */
export function callbackName(connector: Connector): string {
  const { network, testMode } = connector.capabilities;
  return testMode ? `${network}-test` : network;
}

export function createNetworkRegistry(given: readonly Connector[]): NetworkRegistry {
  const connectors = given.map(withCheckedIds);
  const byName = new Map(connectors.map((connector) => [callbackName(connector), connector]));
  const test = connectors.filter((connector) => connector.capabilities.testMode);
  const live = connectors.filter((connector) => !connector.capabilities.testMode);
  return {
    list: (testMode) => (testMode ? test : live),
    find: (network, testMode) => (testMode ? test : live).find(({ capabilities }) => capabilities.network === network),
    findByCallbackName: (name) => byName.get(name),
  };
}
