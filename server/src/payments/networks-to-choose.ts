import type { Merchant } from '../merchants/merchant.ts';
import type { NetworkRegistry } from '../networks/registry.ts';
import type { CheckoutNetwork } from './checkout-view.ts';
import type { Intent, PaymentAmount } from './intent.ts';
import { offeredNetworks } from './start-attempt.ts';

/** The networks among which the payer chooses: of a payment, or of one that a page is about to create. */
export function networksToChoose(
  networks: NetworkRegistry,
  merchant: Merchant,
  payment: PaymentAmount & Pick<Intent, 'paymentMethods'>,
): CheckoutNetwork[] {
  return offeredNetworks(networks, merchant, payment).map(({ capabilities, collections }) => ({
    id: capabilities.network,
    displayName: capabilities.displayName,
    numberRequired: collections.capabilities.numberRequired,
    operator: capabilities.operator,
  }));
}
