import type { Capabilities } from './contract.ts';
import type { NetworkClientOptions } from './http-client.ts';
import { findKnownNetwork, networkName } from './known-networks.ts';

/** The account that a connector works with, and how its network is called. */
export interface ConnectorAccount extends NetworkClientOptions {
  railAccount: string;
  testMode: boolean;
  /** The merchant that the account belongs to; null for the operator's. */
  merchantId: string | null;
}

/** What a connector of the account says of itself. */
export function capabilitiesOf(
  network: string,
  { railAccount, testMode, merchantId, callTimeoutMs }: Omit<Capabilities, 'network' | 'displayName' | 'operator'>,
): Capabilities {
  const operator = findKnownNetwork(network)?.operator ?? null;
  return { network, displayName: networkName(network), operator, testMode, railAccount, merchantId, callTimeoutMs };
}
