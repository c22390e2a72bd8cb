import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from './config.ts';
import type { Database } from './kit/db.ts';
import { StartError } from './kit/start-error.ts';
import { createApiKey, listMerchants } from './merchants/manage-keys.ts';
import type { KeyContext } from './merchants/manage-keys.ts';
import { onboardBusiness } from './operator/onboard-business.ts';
import { updateEndpoint } from './webhooks/update-endpoint.ts';
import type { EndpointContext } from './webhooks/endpoint.ts';

/** What a newcomer needs to try the service; also in `<data dir>/demo.json`, for programs. */
export interface DemoFacts {
  base_url: string;
  secret_key: string;
  webhook_endpoint_id: string;
  webhook_secret: string;
}

const demoName = 'Demo Shop';

/**
 * In development, on an empty database: a demo merchant with a key, so that the first payment is one command away.
 * Later starts find the facts in the file; null where there is no demo.
 */
export async function prepareDemo(
  config: Config,
  parts: { db: Database; context: KeyContext & EndpointContext },
): Promise<DemoFacts | null> {
  if (config.production) return null;
  const path = demoPath(config);
  if (existsSync(path)) return readFacts(path);
  if ((await listMerchants(parts.db)).length > 0) return null;
  const facts = await createDemo(config, parts);
  writeFacts(config, facts);
  return facts;
}

/** The file tells where the service is now; the rest stays as it was. */
export function writeFacts(config: Config, facts: DemoFacts): void {
  const path = demoPath(config);
  writeFileSync(`${path}.new`, `${JSON.stringify(facts, null, 2)}\n`, { mode: 0o600 });
  chmodSync(`${path}.new`, 0o600);
  renameSync(`${path}.new`, path);
}

async function createDemo(
  config: Config,
  { db, context }: { db: Database; context: KeyContext & EndpointContext },
): Promise<DemoFacts> {
  // The demo's own limits are the machine's: a first look at speed must not be a look at the rate limit.
  const { test } = await db.withTransaction(async (tx) => {
    const business = await onboardBusiness(tx, context, { name: demoName, rateLimitPerSecond: 0n });
    const { merchant, endpoint } = business.test;
    const caller = { merchantId: merchant.id, testMode: true };
    if (config.demoWebhookUrl !== null) {
      const change = { url: config.demoWebhookUrl };
      await updateEndpoint(tx, context, caller, { id: endpoint.id, change });
    }
    return business;
  });
  const { text } = await createApiKey(db, context, test.merchant, 'Demo');
  return {
    base_url: '',
    secret_key: text,
    webhook_endpoint_id: test.endpoint.id,
    webhook_secret: test.webhookSecret,
  };
}

function readFacts(path: string): DemoFacts {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as DemoFacts;
  } catch (error) {
    throw new StartError(`${path} cannot be read; restore it, or remove the data directory to begin anew.`, {
      cause: error,
    });
  }
}

function demoPath(config: Config): string {
  return join(config.dataDirectory, 'demo.json');
}
