import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { StartupLog } from './startup-log.ts';
import type { Config } from '../configuration/config.ts';
import {
  isSystemError,
  openDataDirectory,
  unusableDataDirectory,
  writePrivateFile,
} from '../database/embedded/data-directory.ts';
import { acquireAdvisoryLock } from '../database/advisory-lock.ts';
import { AppError } from '../kit/app-error.ts';
import type { Database, Transaction } from '../kit/db.ts';
import { errorCode, StartError } from '../kit/start-error.ts';
import { createKeyAuthenticator } from '../merchants/authenticate-key.ts';
import { createApiKey, listMerchants } from '../merchants/manage-keys.ts';
import { onboardBusiness } from '../operator/onboard-business.ts';
import type { OnboardingContext } from '../operator/onboard-business.ts';
import { getEndpoint, updateEndpoint } from '../webhooks/manage-endpoints.ts';

/** What a newcomer needs to try the service; also in `<data dir>/demo.json`, for programs. */
export interface DemoFacts {
  base_url: string;
  secret_key: string;
  webhook_endpoint_id: string;
  webhook_secret: string;
}

interface DemoParts {
  db: Database;
  context: OnboardingContext;
  logStartup: StartupLog;
}

/** A demo merchant of an earlier start. */
interface FoundDemo {
  facts: DemoFacts;
  merchantId: string;
}

const demoName = 'Demo Shop';

/**
 * In development, on an empty database: a demo merchant with a key, so that the first payment is one command away.
 * Later starts find the facts in the file, as long as the key in it is one of this database's; null where there is no
 * demo. Where DEMO_WEBHOOK_URL is set and changes nothing, it says so.
 */
export async function prepareDemo(config: Config, parts: DemoParts): Promise<DemoFacts | null> {
  if (config.production) {
    if (config.demoWebhookUrl !== null)
      parts.logStartup('DEMO_WEBHOOK_URL changes nothing: production has no demo merchant.');
    return null;
  }
  try {
    openDataDirectory(config.dataDirectory);
    const found = await findDemo(config, parts);
    if (found !== undefined) {
      if (config.demoWebhookUrl !== null) await explainUnusedUrl(config.demoWebhookUrl, found, parts);
      return found.facts;
    }
    const created = await createDemo(config, parts);
    if (created === null && config.demoWebhookUrl !== null) {
      parts.logStartup('DEMO_WEBHOOK_URL changes nothing: this database has businesses already.');
    }
    return created;
  } catch (error) {
    throw isSystemError(error) ? unusableDataDirectory(config.dataDirectory, error) : error;
  }
}

/** After the first start the address is the merchant's own to change, also to nothing. */
async function explainUnusedUrl(
  url: string,
  { facts, merchantId }: FoundDemo,
  { db, logStartup }: DemoParts,
): Promise<void> {
  const id = facts.webhook_endpoint_id;
  const endpoint = await getEndpoint(db, merchantId, id).catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'not_found') return null;
    throw error;
  });
  if (endpoint?.url === url) return;
  const instead = endpoint === null ? 'POST /v1/webhook-endpoints' : `PUT /v1/webhook-endpoints/${id}`;
  logStartup(`DEMO_WEBHOOK_URL changes nothing after the first start; set where events go with ${instead}.`);
}

/** Names the demo file, once the service listens: it tells where the service is now; the rest stays as it was. */
export function writeFacts(config: Config, facts: DemoFacts): void {
  try {
    writePrivateFile(demoPath(config), formatFacts(facts));
    rmSync(draftPath(config), { force: true });
  } catch (error) {
    throw isSystemError(error) ? unusableDataDirectory(config.dataDirectory, error) : error;
  }
}

/** A draft whose key works is of a start that ended between its commit and its listening. */
async function findDemo(config: Config, { db, context }: DemoParts): Promise<FoundDemo | undefined> {
  const authenticator = createKeyAuthenticator(db, context.clock, context.pepper);
  // Whoever removes a draft has written the file before, which is why that is looked for again.
  for (const path of [demoPath(config), draftPath(config), demoPath(config)]) {
    const facts = readFacts(path);
    const holder = facts && (await authenticator.find(facts.secret_key));
    if (holder) return { facts, merchantId: holder.merchant.id };
  }
  return undefined;
}

/** The facts are in a file before they are committed: a key whose text nobody has would be no use to anybody. */
async function createDemo(config: Config, { db, context }: DemoParts): Promise<DemoFacts | null> {
  return db.withTransaction(async (tx) => {
    // Of several processes that start at once on an empty database, one makes the demo.
    await acquireAdvisoryLock(tx, 'demo');
    if ((await listMerchants(tx)).length > 0) return null;
    const created = await insertDemo(tx, config, context);
    writePrivateFile(draftPath(config), formatFacts(created));
    return created;
  });
}

async function insertDemo(tx: Transaction, config: Config, context: DemoParts['context']): Promise<DemoFacts> {
  // The demo's own limits are the machine's: a first look at speed must not be a look at the rate limit.
  const { test } = await onboardBusiness(tx, context, { name: demoName, rateLimitPerSecond: 0n });
  const { merchant, endpoint, webhookSecret } = test;
  if (config.demoWebhookUrl !== null) {
    const change = { url: config.demoWebhookUrl };
    const caller = { merchantId: merchant.id, testMode: true };
    await updateEndpoint(tx, context, caller, { id: endpoint.id, change }).catch((error: unknown) => {
      if (!(error instanceof AppError)) throw error;
      throw new StartError(`DEMO_WEBHOOK_URL cannot be used: ${error.fields?.[0]?.message ?? error.message}`);
    });
  }
  const { text } = await createApiKey(tx, context, merchant, 'Demo');
  return { base_url: '', secret_key: text, webhook_endpoint_id: endpoint.id, webhook_secret: webhookSecret };
}

/** Undefined where there is no such file. */
function readFacts(path: string): DemoFacts | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as DemoFacts;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    if (isSystemError(error)) throw error;
    throw new StartError(`${path} is not what the service wrote there; restore it, or remove it.`, { cause: error });
  }
}

function formatFacts(facts: DemoFacts): string {
  return `${JSON.stringify(facts, null, 2)}\n`;
}

function demoPath(config: Config): string {
  return join(config.dataDirectory, 'demo.json');
}

function draftPath(config: Config): string {
  return join(config.dataDirectory, 'demo.json.new');
}
