import { assert } from '../kit/assert.ts';
import type { Connector } from '../networks/contract.ts';
import type { NetworkRegistry } from '../networks/registry.ts';
import type { Charge } from './charge.ts';
import type { PaymentContext } from './context.ts';

/** A network's display name. */
export function networkName(networks: NetworkRegistry, network: string, testMode: boolean): string {
  return networks.find(network, testMode)?.capabilities.displayName ?? network;
}

/** The connector of a charge's network, which stays configured while it has charges. */
export async function connectorOf(
  { merchants, networks }: Pick<PaymentContext, 'merchants' | 'networks'>,
  charge: Charge,
): Promise<Connector> {
  const merchant = await merchants.byId(charge.merchantId);
  assert(merchant, 'a charge has its merchant');
  const connector = networks.find(charge.network, merchant.testMode);
  assert(connector, `the network ${charge.network} is configured`);
  return connector;
}
