import type { App } from '../../server/src/app/app.ts';
import { readConfig } from '../../server/src/configuration/config.ts';
import { systemClock, type Clock } from '../../server/src/kit/clock.ts';
import type { Database } from '../../server/src/kit/db.ts';
import { keyScopes, type KeyScope } from '../../server/src/api/key-scope.ts';
import { createServiceLog } from '../../server/src/api/service-log.ts';
import type { Notifier } from '../../server/src/kit/notifier.ts';
import { systemRandom } from '../../server/src/kit/random.ts';
import type { Merchant } from '../../server/src/merchants/merchant.ts';
import { createApiKey } from '../../server/src/merchants/manage-keys.ts';
import { createOnboardingContext, onboardBusiness } from '../../server/src/operator/onboard-business.ts';
import type { Secrets } from '../../server/src/configuration/secrets.ts';
import { assembleService, type AssembleOptions } from './assemble-service.ts';
import { assertNoSecret, assertNoSecretMeasured } from './searched-output.ts';
import { searchResponses } from './searched-responses.ts';
import { borrowDatabase } from './borrowed-database.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';

/** The keys of every test service, so that several on one database can open each other’s secrets. */
export const testKeys = {
  SEAL_KEY: 'f'.repeat(64),
  KEY_PEPPER: 'e'.repeat(64),
};

/** The whole service on its own database and port. */
export interface TestService {
  app: App;
  db: Database;
  clock: Clock;
  secrets: Secrets;
  database: TestDatabase;
  url: string;
  /** The log lines. */
  logLines: string[];
  /** Onboards a business with keys for both environments. */
  onboard(name?: string): Promise<TestBusiness>;
  /** Creates another key of a merchant; by default with all scopes. */
  newKey(merchant: Merchant, scopes?: readonly KeyScope[]): Promise<string>;
  stop(): Promise<void>;
}

export interface TestBusiness {
  test: TestMerchant;
  live: TestMerchant;
}

export interface TestMerchant {
  merchant: Merchant;
  key: string;
  endpointId: string;
  webhookSecret: string;
}

export interface TestServiceOptions extends Pick<AssembleOptions, 'serve'> {
  clock?: Clock;
  settings?: Readonly<Record<string, string>>;
  /** Another service's database, to run two on one. */
  database?: TestDatabase;
  /** Of a database that is not borrowed. Default: 4, because each costs PostgreSQL 30 ms. */
  connectionsMax?: number;
  /** Connections to that database, which the caller closes: each statement is planned once for all services that share them. */
  connected?: Database;
  /** The change feed of several services on one database, which the caller closes. */
  notifier?: Notifier;
  /** Default: true. False for tests of timeouts on the database; see `openDatabase`. */
  isPatient?: boolean;
}

export async function startService(options: TestServiceOptions = {}): Promise<TestService> {
  const clock = options.clock ?? systemClock;
  const config = readConfig({
    ...testKeys,
    PORT: '0',
    APP_ENV: 'development',
    LOG_LEVEL: 'debug',
    ...options.settings,
  });
  const logLines: string[] = [];
  const log = createServiceLog({ level: config.logLevel, write: (line) => logLines.push(line) });
  const { connectionsMax = 4, isPatient = true, notifier, serve } = options;
  const isUsual = options.connectionsMax === undefined && isPatient;
  const borrowed =
    options.database === undefined && isUsual
      ? await borrowDatabase({ onError: (what, error) => log.error(what, error) })
      : null;
  const database = options.database ?? borrowed?.database ?? (await createTestDatabase());
  const connected = options.connected ?? borrowed?.db;
  const url = database.appUrl;
  const parts = { url, connectionsMax, isPatient, connected, notifier, serve };
  const assembled = await assembleService({ config, clock, log, ...parts });
  const { app, db, secrets } = assembled;
  const assertNoSecretSent = searchResponses(app.server.server);
  const listening = await app.start();
  const context = createOnboardingContext(config, { clock, random: systemRandom, secrets });
  return {
    app,
    db,
    clock,
    secrets,
    database,
    logLines,
    url: `http://localhost:${new URL(listening).port}`,
    onboard: async (name = 'Kairaba Books') => {
      await secrets.sealer.prepare();
      const business = await db.withTransaction((tx) => onboardBusiness(tx, context, { name, rateLimitPerSecond: 0n }));
      const withKey = async ({ merchant, endpoint, webhookSecret }: typeof business.test): Promise<TestMerchant> => {
        const { text: key } = await createApiKey(db, context, merchant, { name: 'test' });
        return { merchant, key, endpointId: endpoint.id, webhookSecret };
      };
      return { test: await withKey(business.test), live: await withKey(business.live) };
    },
    newKey: async (merchant, scopes = keyScopes) =>
      (await createApiKey(db, context, merchant, { name: 'another', scopes })).text,
    stop: async () => {
      const metrics = await assembled.app.server.inject('/metrics');
      await assembled.close();
      if (borrowed) await borrowed.giveBack();
      else if (!options.database) await database.drop();
      assertNoSecret(logLines.join('\n'), 'the log', { withNumbers: true });
      assertNoSecretMeasured(metrics.body);
      assertNoSecretSent();
    },
  };
}
