import type { Config } from '../configuration/config.ts';
import type { Clock } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import { uuidV7 } from '../kit/ids.ts';
import type { Random } from '../kit/random.ts';
import { createBusiness } from '../merchants/create-business.ts';
import type { Merchant, MerchantContext } from '../merchants/merchant.ts';
import { urlPolicyOf } from '../configuration/own-hosts.ts';
import type { ConfiguredSecrets } from '../configuration/secrets.ts';
import { createDefaultEndpoint } from '../webhooks/manage-endpoints.ts';
import type { WebhookContext } from '../webhooks/context.ts';
import { createCommandPlanner } from '../webhooks/delivery-planner.ts';
import type { Endpoint } from '../webhooks/endpoint.ts';

/** What creating businesses, their endpoints and their keys needs. */
export type OnboardingContext = MerchantContext &
  Pick<WebhookContext, 'clock' | 'random' | 'newId' | 'sealer' | 'urlPolicy' | 'planner'>;

interface OnboardingParts {
  clock: Clock;
  random: Random;
  secrets: Pick<ConfiguredSecrets, 'pepper' | 'sealer'>;
}

export function createOnboardingContext(
  config: Config,
  { clock, random, secrets }: OnboardingParts,
): OnboardingContext {
  const { pepper, sealer } = secrets;
  const newId = () => uuidV7(clock, random);
  const planner = createCommandPlanner({ clock, newId });
  return { clock, random, newId, planner, pepper, sealer, urlPolicy: urlPolicyOf(config) };
}

export interface Onboarded {
  merchant: Merchant;
  endpoint: Endpoint;
  /** Of the default endpoint; shown once. */
  webhookSecret: string;
}

/** Creates a business with its two merchants, each with the default webhook endpoint, whose secret also signs callbacks. */
export async function onboardBusiness(
  tx: Transaction,
  context: Omit<OnboardingContext, 'pepper'>,
  business: { id?: string; name: string; rateLimitPerSecond?: bigint },
): Promise<{ test: Onboarded; live: Onboarded }> {
  const merchants = await createBusiness(tx, context, business);
  const withEndpoint = (merchant: Merchant): Onboarded => {
    const { endpoint, secret } = createDefaultEndpoint(tx, context, merchant.id);
    return { merchant, endpoint, webhookSecret: secret };
  };
  return { test: withEndpoint(merchants.test), live: withEndpoint(merchants.live) };
}
