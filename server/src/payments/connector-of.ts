import { assert } from '../kit/assert.ts';
import type { CollectingConnector } from '../networks/contract.ts';
import { findCollecting } from '../networks/registry.ts';
import type { Charge } from './charge.ts';
import type { PaymentContext } from './context.ts';

/** The connector that collects a charge. Its account stays connected while it has charges. */
export async function connectorOf(
  { merchants, networks }: Pick<PaymentContext, 'merchants' | 'networks'>,
  charge: Charge,
): Promise<CollectingConnector> {
  const merchant = await merchants.byId(charge.merchantId);
  assert(merchant, 'a charge has its merchant');
  const connector = findCollecting(networks, merchant, charge);
  assert(connector, `the account ${charge.railAccount ?? ''} that collects for ${charge.network} is connected`);
  return connector;
}
