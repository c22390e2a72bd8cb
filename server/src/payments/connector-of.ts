import { assert } from '../kit/assert.ts';
import type { Connector } from '../networks/contract.ts';
import type { Charge } from './charge.ts';
import type { PaymentContext } from './context.ts';

/** What people call a network. */
export function networkName(context: Pick<PaymentContext, 'networks'>, network: string, testMode: boolean): string {
  return context.networks.find(network, testMode)?.capabilities.displayName ?? network;
}

/** The connector that a charge was started with: a network stays configured while it has charges. */
export async function connectorOf(context: PaymentContext, charge: Charge): Promise<Connector> {
  const merchant = await context.merchants.byId(charge.merchantId);
  assert(merchant, 'a charge has its merchant');
  const connector = context.networks.find(charge.network, merchant.testMode);
  assert(connector, `the network ${charge.network} is configured`);
  return connector;
}
