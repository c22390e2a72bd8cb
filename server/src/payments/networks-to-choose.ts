import type { Merchant } from '../merchants/merchant.ts';
import type { NetworkRegistry } from '../networks/registry.ts';
import type { CheckoutNetwork } from './checkout-view.ts';
import { offeredNetworks, type OfferedPayment } from './start-attempt.ts';

/** The networks among which the payer chooses: of a payment, or of one that a page is about to create. */
export function networksToChoose(
  networks: NetworkRegistry,
  merchant: Merchant,
  payment: OfferedPayment,
): CheckoutNetwork[] {
  return offeredNetworks(networks, merchant, payment).map(({ capabilities, collections }) => ({
    id: capabilities.network,
    displayName: capabilities.displayName,
    numberRequired: collections.capabilities.numberRequired,
    operator: capabilities.operator,
  }));
}
