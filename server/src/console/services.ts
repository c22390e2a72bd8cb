import type { AccountContext } from '../accounts/context.ts';
import type { ResolveContext } from '../cases/resolve-case.ts';
import type { Transaction } from '../kit/db.ts';
import type { Merchant, MerchantContext } from '../merchants/merchant.ts';
import type { RateLimitSettings } from '../merchants/rate-limit-kinds.ts';
import type { PaymentContext } from '../payments/context.ts';
import type { ConnectedAccounts } from '../rail-accounts/connected-accounts.ts';
import type { RailAccountContext } from '../rail-accounts/manage-accounts.ts';
import type { TransferContext } from '../transfers/context.ts';
import type { WebhookContext } from '../webhooks/context.ts';

/** What the console's pages read and act with: the use-cases of the operator's commands. */
export interface ConsoleServices {
  accounts: AccountContext;
  money: PaymentContext & TransferContext;
  cases: ResolveContext;
  webhooks: WebhookContext;
  /** Creates API keys. */
  keys: MerchantContext;
  /** The limits of merchants without limits of their own. */
  rateLimits: RateLimitSettings;
  /** As `businesses create`: two merchants, each with its default webhook endpoint. */
  createBusiness: (tx: Transaction, business: { id?: string; name: string }) => Promise<{ businessId: string }>;
  /** The operator's own templates of networks' messages; null is none. */
  receiptTemplates: string | null;
  /** As `networks add` and the other commands of rail accounts. */
  railAccounts: {
    context: RailAccountContext;
    /** What this process has connected. */
    connected: Pick<ConnectedAccounts, 'list'>;
    publicUrl: () => string;
  };
  /** Of the configuration. */
  expectsBackups: boolean;
  /** As `phone link`: where a test merchant's simulated phone is. */
  phoneLink: (merchant: Merchant) => string;
}
