import { readConfig } from '../../server/src/configuration/config.ts';
import type { EventKind } from '../../server/src/events/kinds.ts';
import { systemClock } from '../../server/src/kit/clock.ts';
import { openDatabase } from '../../server/src/kit/db.ts';
import { systemRandom } from '../../server/src/kit/random.ts';
import {
  createOnboardingContext,
  onboardBusiness,
  type OnboardingContext,
} from '../../server/src/operator/onboard-business.ts';
import { readSecrets } from '../../server/src/configuration/secrets.ts';
import { updateEndpoint } from '../../server/src/webhooks/manage-endpoints.ts';

/** A test merchant with one endpoint. */
export interface Subscriber {
  merchantId: string;
  endpointId: string;
}

/** The event that the load creates and the endpoints receive. */
export const subscribedKind: EventKind = 'customer.created';

/** Adds a test merchant of a new business for each address, with an endpoint there for `subscribedKind`. */
export async function addSubscribers(
  { adminUrl, dataDirectory }: { adminUrl: string; dataDirectory: string },
  urls: readonly string[],
): Promise<Subscriber[]> {
  const config = readConfig({ APP_ENV: 'development', DATABASE_URL: adminUrl, DATA_DIR: dataDirectory });
  const secrets = readSecrets(config, systemRandom);
  const context = createOnboardingContext(config, { clock: systemClock, random: systemRandom, secrets });
  return addSubscribersWith(adminUrl, context, urls);
}

/** The same with the service's secrets in a context. */
export async function addSubscribersWith(
  adminUrl: string,
  context: Omit<OnboardingContext, 'pepper'>,
  urls: readonly string[],
): Promise<Subscriber[]> {
  const db = openDatabase({ url: adminUrl, connectionsMax: 1, clock: systemClock, onConnectionError: () => {} });
  try {
    const subscribers: Subscriber[] = [];
    for (const url of urls) {
      const subscriber = await db.withTransaction(async (tx) => {
        const { test } = await onboardBusiness(tx, context, { name: 'Subscriber', rateLimitPerSecond: 0n });
        const caller = { merchantId: test.merchant.id, testMode: true };
        const change = { url, enabledEvents: [subscribedKind] };
        await updateEndpoint(tx, context, caller, { id: test.endpoint.id, change });
        return { merchantId: test.merchant.id, endpointId: test.endpoint.id };
      });
      subscribers.push(subscriber);
    }
    return subscribers;
  } finally {
    await db.close();
  }
}
