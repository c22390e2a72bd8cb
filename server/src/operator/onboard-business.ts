import type { Transaction } from '../kit/db.ts';
import { createBusiness } from '../merchants/create-business.ts';
import type { MerchantContext } from '../merchants/create-business.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { createDefaultEndpoint } from '../webhooks/create-endpoint.ts';
import type { Endpoint, EndpointContext } from '../webhooks/endpoint.ts';

export interface Onboarded {
  merchant: Merchant;
  endpoint: Endpoint;
  /** Of the default endpoint; shown once. */
  webhookSecret: string;
}

/** A business with its two merchants, each with the default webhook endpoint that signs for callback addresses. */
export async function onboardBusiness(
  tx: Transaction,
  context: MerchantContext & EndpointContext,
  business: { name: string; rateLimitPerSecond?: bigint },
): Promise<{ test: Onboarded; live: Onboarded }> {
  const merchants = await createBusiness(tx, context, business);
  const withEndpoint = (merchant: Merchant): Onboarded => {
    const { endpoint, secret } = createDefaultEndpoint(tx, context, merchant.id);
    return { merchant, endpoint, webhookSecret: secret };
  };
  return { test: withEndpoint(merchants.test), live: withEndpoint(merchants.live) };
}
