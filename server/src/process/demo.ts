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
import { AppError } from '../api/app-error.ts';
import { createMember } from '../accounts/create-member.ts';
import { hashPassword } from '../accounts/password.ts';
import { randomBase62 } from '../kit/base62.ts';
import type { Database, Transaction } from '../kit/db.ts';
import { errorCode, StartError } from '../kit/start-error.ts';
import { createKeyAuthenticator } from '../merchants/authenticate-key.ts';
import { createApiKey, listMerchants } from '../merchants/manage-keys.ts';
import { onboardBusiness, type OnboardingContext } from '../operator/onboard-business.ts';
import { getEndpoint, updateEndpoint } from '../webhooks/manage-endpoints.ts';

/** What you need to try the service; written to `<data dir>/demo.json` for programs. */
export interface DemoFacts {
  base_url: string;
  secret_key: string;
  webhook_endpoint_id: string;
  webhook_secret: string;
  /** The login of its owner; absent where the demo is older than the dashboard. */
  dashboard?: { url: string; email: string; password: string };
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
const demoEmail = 'owner@demo.example';
// 95 random bits: nobody guesses it, and it can be typed.
const passwordLength = 16;

/**
 * Creates a demo merchant with a key, in development and on an empty database. Later starts read its facts from the file, as
 * long as its key is in this database. Null without a demo. A DEMO_WEBHOOK_URL without effect is reported.
 */
export async function prepareDemo(config: Config, parts: DemoParts): Promise<DemoFacts | null> {
  if (config.production) {
    if (config.demoWebhookUrl !== null)
      parts.logStartup('DEMO_WEBHOOK_URL has no effect: production has no demo merchant.');
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
      parts.logStartup('DEMO_WEBHOOK_URL has no effect: this database already has businesses.');
    }
    return created;
  } catch (error) {
    throw isSystemError(error) ? unusableDataDirectory(config.dataDirectory, error) : error;
  }
}

/** After the first start only the API changes the address; the endpoint may also be deleted. */
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
  logStartup(`DEMO_WEBHOOK_URL has no effect after the first start; set the address for events with ${instead}.`);
}

/** The facts with the current addresses. */
export function factsAt(baseUrl: string, facts: DemoFacts): DemoFacts {
  const { dashboard } = facts;
  return {
    ...facts,
    base_url: baseUrl,
    ...(dashboard && { dashboard: { ...dashboard, url: `${baseUrl}/dashboard` } }),
  };
}

/** Writes the demo file once the service listens, with its current addresses. */
export function writeFacts(config: Config, facts: DemoFacts): void {
  try {
    writePrivateFile(demoPath(config), formatFacts(facts));
    rmSync(draftPath(config), { force: true });
  } catch (error) {
    throw isSystemError(error) ? unusableDataDirectory(config.dataDirectory, error) : error;
  }
}

/** The demo merchant of an earlier start in development, and where that start listened; undefined without one. */
export async function findDemoMerchant(
  config: Pick<Config, 'dataDirectory'>,
  parts: Pick<DemoParts, 'db' | 'context'>,
): Promise<{ merchantId: string; baseUrl: string } | undefined> {
  const found = await findDemo(config, parts);
  return found && { merchantId: found.merchantId, baseUrl: found.facts.base_url };
}

/** A draft with a valid key comes from a start that ended between its commit and `listen`. */
async function findDemo(
  config: Pick<Config, 'dataDirectory'>,
  { db, context }: Pick<DemoParts, 'db' | 'context'>,
): Promise<FoundDemo | undefined> {
  const authenticator = createKeyAuthenticator(db, context.clock, context.pepper);
  // Another process writes the file before it removes the draft, so the file is read again after the draft.
  for (const path of [demoPath(config), draftPath(config), demoPath(config)]) {
    const facts = readFacts(path);
    if (!facts) continue;
    const holder = await authenticator.find(facts.secret_key);
    if (typeof holder === 'object') return { facts, merchantId: holder.merchant.id };
  }
  return undefined;
}

/** Writes the facts to a draft before the commit: the text of a committed key cannot be read again. */
async function createDemo(config: Config, { db, context }: DemoParts): Promise<DemoFacts | null> {
  const password = randomBase62(context.random, passwordLength);
  // Before the transaction: it takes as long as a password's hash should.
  const passwordHash = await hashPassword(context.random, password);
  return db.withTransaction(async (tx) => {
    // Of several processes that start at once on an empty database, one makes the demo.
    await acquireAdvisoryLock(tx, 'demo');
    if ((await listMerchants(tx)).length > 0) return null;
    const created = await insertDemo(tx, config, context, { password, passwordHash });
    writePrivateFile(draftPath(config), formatFacts(created));
    return created;
  });
}

async function insertDemo(
  tx: Transaction,
  config: Config,
  context: DemoParts['context'],
  { password, passwordHash }: { password: string; passwordHash: string },
): Promise<DemoFacts> {
  // No rate limit, so that a first benchmark measures the machine.
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
  const { text } = await createApiKey(tx, context, merchant, { name: 'Demo' });
  const login = { email: demoEmail, name: 'Demo owner', passwordHash, businessId: merchant.businessId };
  await createMember(tx, context, { ...login, grant: { role: 'owner', terminalIds: [] } });
  return {
    ...{ base_url: '', secret_key: text, webhook_endpoint_id: endpoint.id, webhook_secret: webhookSecret },
    dashboard: { url: '', email: demoEmail, password },
  };
}

/** Undefined where there is no such file. */
function readFacts(path: string): DemoFacts | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as DemoFacts;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    if (isSystemError(error)) throw error;
    throw new StartError(`${path} is damaged; restore it, or delete it.`, { cause: error });
  }
}

function formatFacts(facts: DemoFacts): string {
  return `${JSON.stringify(facts, null, 2)}\n`;
}

function demoPath(config: Pick<Config, 'dataDirectory'>): string {
  return join(config.dataDirectory, 'demo.json');
}

function draftPath(config: Pick<Config, 'dataDirectory'>): string {
  return join(config.dataDirectory, 'demo.json.new');
}
