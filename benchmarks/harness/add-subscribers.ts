import { readConfig } from '../../server/src/config.ts';
import type { EventKind } from '../../server/src/events/kinds.ts';
import { systemClock } from '../../server/src/kit/clock.ts';
import { openDatabase } from '../../server/src/kit/db.ts';
import { uuidV7 } from '../../server/src/kit/ids.ts';
import { outboundPolicy } from '../../server/src/kit/outbound-guard.ts';
import { systemRandom } from '../../server/src/kit/random.ts';
import type { MerchantContext } from '../../server/src/merchants/create-business.ts';
import { onboardBusiness } from '../../server/src/operator/onboard-business.ts';
import { readSecrets } from '../../server/src/secrets.ts';
import type { EndpointContext } from '../../server/src/webhooks/endpoint.ts';
import { updateEndpoint } from '../../server/src/webhooks/update-endpoint.ts';

/** A test merchant with one endpoint. */
export interface Subscriber {
  merchantId: string;
  endpointId: string;
}

/** What the load makes happen, and the endpoints hear of. */
export const subscribedKind: EventKind = 'customer.created';

/** Test merchants of new businesses, one for each address, whose endpoint is there and gets `subscribedKind`. */
export async function addSubscribers(
  { adminUrl, dataDirectory }: { adminUrl: string; dataDirectory: string },
  urls: readonly string[],
): Promise<Subscriber[]> {
  const config = readConfig({ APP_ENV: 'development', DATABASE_URL: adminUrl, DATA_DIR: dataDirectory });
  const context = {
    clock: systemClock,
    random: systemRandom,
    newId: () => uuidV7(systemClock, systemRandom),
    ...readSecrets(config, systemRandom),
    urlPolicy: (testMode: boolean) => outboundPolicy({ production: false, testMode }),
  };
  return addSubscribersWith(adminUrl, context, urls);
}

/** The same for a service whose secrets are known. */
export async function addSubscribersWith(
  adminUrl: string,
  context: MerchantContext & EndpointContext,
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
