import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from './config.ts';
import type { Database } from './kit/db.ts';
import { createBusiness } from './merchants/create-business.ts';
import { createApiKey, listMerchants } from './merchants/manage-keys.ts';
import type { KeyContext } from './merchants/manage-keys.ts';
import { createDefaultEndpoint, updateEndpoint } from './webhooks/endpoints.ts';
import type { WebhookContext } from './webhooks/context.ts';

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
 * Later starts find the facts in the file; without it (or with other merchants there) there is no demo.
 */
export async function prepareDemo(
  config: Config,
  parts: { db: Database; keys: KeyContext; webhooks: WebhookContext; baseUrl: string },
): Promise<DemoFacts | null> {
  if (config.production) return null;
  const path = join(config.dataDirectory, 'demo.json');
  const known = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as DemoFacts) : null;
  const facts = known ?? (await createDemo(config, parts));
  if (facts === null) return null;
  const current = { ...facts, base_url: parts.baseUrl };
  writePrivately(path, `${JSON.stringify(current, null, 2)}\n`);
  return current;
}
