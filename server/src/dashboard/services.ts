import type { AccountContext } from '../accounts/context.ts';
import type { InProcessApi } from '../http/in-process-api.ts';
import type { MerchantContext } from '../merchants/merchant.ts';
import type { RateLimitSettings } from '../merchants/rate-limit-kinds.ts';
import type { ApiDocument } from '../pages/reference/api-document.ts';
import type { PaymentContext } from '../payments/context.ts';
import type { TransferContext } from '../transfers/context.ts';
import type { WebhookContext } from '../webhooks/context.ts';

/** What the dashboard's pages read and act with. */
export interface DashboardServices {
  api: InProcessApi;
  money: PaymentContext & TransferContext;
  accounts: AccountContext;
  webhooks: WebhookContext;
  /** The limits of merchants without limits of their own. */
  rateLimits: RateLimitSettings;
  /** Creates API keys. */
  keys: MerchantContext;
  /** The API as the reference shows it. */
  describeApi: () => Promise<ApiDocument>;
}
