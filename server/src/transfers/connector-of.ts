import { assert } from '../kit/assert.ts';
import type { Connector, PayoutOperations } from '../networks/contract.ts';
import type { TransferContext } from './context.ts';
import type { Transfer } from './transfer.ts';

/** A connector that pays out. */
export type PayoutConnector = Connector & { readonly payouts: PayoutOperations };

export function paysOut(connector: Connector): connector is PayoutConnector {
  return connector.payouts !== null;
}

/** The connector that a transfer goes out by: a network stays configured while it has transfers. */
export async function connectorOf(context: TransferContext, transfer: Transfer): Promise<Connector> {
  const merchant = await context.merchants.byId(transfer.merchantId);
  assert(merchant, 'a transfer has its merchant');
  const connector = context.networks.find(transfer.network, merchant.testMode);
  assert(connector, `the network ${transfer.network} is configured`);
  return connector;
}
