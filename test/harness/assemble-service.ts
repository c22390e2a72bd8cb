import { createApp } from '../../server/src/app/app.ts';
import type { App } from '../../server/src/app/app.ts';
import type { Config } from '../../server/src/configuration/config.ts';
import type { Clock } from '../../server/src/kit/clock.ts';
import { openDatabase } from '../../server/src/kit/db.ts';
import type { Database, DatabaseOptions } from '../../server/src/kit/db.ts';
import type { Log } from '../../server/src/kit/log.ts';
import { startNotifier } from '../../server/src/kit/notifier.ts';
import { systemRandom } from '../../server/src/kit/random.ts';
import { openSecrets } from '../../server/src/process/open-secrets.ts';
import { readSecrets } from '../../server/src/configuration/secrets.ts';
import type { Secrets } from '../../server/src/configuration/secrets.ts';

export interface AssembledService {
  app: App;
  db: Database;
  secrets: Secrets;
  /** Closes what was opened, the database last. */
  close(): Promise<void>;
}

interface AssembleOptions extends Pick<DatabaseOptions, 'url' | 'connectionsMax' | 'isPatient'> {
  config: Config;
  clock: Clock;
  log: Log;
  /** What the service gets in the place of its database, once its keys are compared. Default: the database itself. */
  watch?: (db: Database) => Database;
}

/**
 * The service put together as in server/src/process/run-service.ts, on a migrated database; it does not listen yet. The database is
 * not opened by `openServiceDatabase`, which refuses the tests' server: it would lose rows in a power cut.
 */
export async function assembleService(options: AssembleOptions): Promise<AssembledService> {
  const { config, clock, log, url, connectionsMax, isPatient = true, watch = (db) => db } = options;
  const opened = openDatabase({
    url,
    connectionsMax,
    clock,
    onConnectionError: (error) => log.error('a database connection was lost', error),
    onAfterCommitError: (error) => log.error('what follows a commit failed', error),
    refuseNestedUse: true,
    isPatient,
  });
  const { secrets, keyring } = await openSecrets(readSecrets(config, systemRandom), { db: opened, clock });
  const db = watch(opened);
  const notifier = await startNotifier({ db, clock, onError: (error) => log.error('a hint was lost', error) });
  const app = await createApp({ config, secrets, keyring, db, notifier, clock, random: systemRandom, log });
  return {
    app,
    db,
    secrets,
    close: async () => {
      await app.close();
      await notifier.close();
      await db.close();
    },
  };
}
