import type { MerchantClient } from './merchant-client.ts';

/** What a merchant has been told exists. */
export interface Known {
  merchant: MerchantClient;
  id: string;
}
