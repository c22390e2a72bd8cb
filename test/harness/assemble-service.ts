import { createApp, type App } from '../../server/src/app/app.ts';
import type { Config } from '../../server/src/configuration/config.ts';
import type { Clock } from '../../server/src/kit/clock.ts';
import { openDatabase, type Database, type DatabaseOptions } from '../../server/src/kit/db.ts';
import type { Log } from '../../server/src/kit/log.ts';
import { startNotifier, type Notifier } from '../../server/src/kit/notifier.ts';
import { systemRandom } from '../../server/src/kit/random.ts';
import { openSecrets } from '../../server/src/process/open-secrets.ts';
import { readSecrets, type Secrets } from '../../server/src/configuration/secrets.ts';

export interface AssembledService {
  app: App;
  db: Database;
  secrets: Secrets;
  /** Closes everything, the database last. */
  close(): Promise<void>;
}

export interface AssembleOptions extends Pick<DatabaseOptions, 'url' | 'connectionsMax' | 'isPatient'> {
  config: Config;
  clock: Clock;
  log: Log;
  /** Wraps the service's database once the keys are compared. Default: no wrapper. */
  watch?: (db: Database) => Database;
  /** Connections that the caller opened and closes, for several services in turn. Default: the service's own. */
  connected?: Database | undefined;
  /** Of several services in one process, which the caller closes. Default: the service's own. */
  notifier?: Notifier | undefined;
  /** What it serves. Default: everything. */
  serve?: Serve | undefined;
}

type Serve = NonNullable<Parameters<typeof createApp>[1]>;

/** Without the pages behind a sign-in, whose routes take half of a start: for tests that start many services. */
export const withoutPortal: Serve = async (server, options, parts) => {
  const { payerPages, serveApi } = await import('../../server/src/process/serve.ts');
  await serveApi(server, options, parts);
  await payerPages(server, { options, parts });
};

/**
 * Builds the service as server/src/process/run-service.ts does, on a migrated database; it does not listen yet. It does
 * not use `openServiceDatabase`, which refuses the tests' server because a power cut would lose rows.
 */
export async function assembleService(options: AssembleOptions): Promise<AssembledService> {
  const { config, clock, log, url, connectionsMax, isPatient = true, watch = (db) => db } = options;
  const opened =
    options.connected ??
    openDatabase({
      url,
      connectionsMax,
      clock,
      onConnectionError: (error) => log.error('a database connection was lost', error),
      onAfterCommitError: (error) => log.error('an action after a commit failed', error),
      refuseNestedUse: true,
      isPatient,
    });
  const { secrets, keyring } = await openSecrets(readSecrets(config, systemRandom), { db: opened, clock });
  const db = watch(opened);
  const notifier =
    options.notifier ?? (await startNotifier({ db, clock, onError: (error) => log.error('a hint was lost', error) }));
  const app = await createApp(
    { config, secrets, keyring, db, notifier, clock, random: systemRandom, log },
    options.serve,
  );
  return {
    app,
    db,
    secrets,
    close: async () => {
      await app.close();
      if (!options.notifier) await notifier.close();
      if (!options.connected) await db.close();
    },
  };
}
