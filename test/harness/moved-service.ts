import { createApp } from '../../server/src/app.ts';
import { readConfig } from '../../server/src/config.ts';
import { openDatabase } from '../../server/src/kit/db.ts';
import { createLog } from '../../server/src/kit/log.ts';
import { startNotifier } from '../../server/src/kit/notifier.ts';
import { systemRandom } from '../../server/src/kit/random.ts';
import { openSecrets } from '../../server/src/open-secrets.ts';
import { readSecrets } from '../../server/src/secrets.ts';
import { CrashClock } from './crash-clock.ts';

/** A service whose clock stands still until the test moves it. */
export interface MovedService {
  /** Where it listens. */
  url: string;
  /** It is `moment` now; resolves when all is done that is due then. */
  comeTo(moment: Date): Promise<void>;
  stop(): Promise<void>;
}

interface MovedServiceOptions {
  settings: Readonly<Record<string, string | undefined>>;
  now: Date;
  /** Takes the lines of the log. Default: standard error. */
  writeLog?: (line: string) => void;
}

/** The service as in server/src/run-service.ts, on a database that is there already. */
export async function startMovedService({
  settings,
  now,
  writeLog: write,
}: MovedServiceOptions): Promise<MovedService> {
  const config = readConfig(settings);
  const clock = new CrashClock(now);
  const log = createLog({ level: config.logLevel, ...(write && { write }) });
  const db = openDatabase({
    url: config.appDatabaseUrl ?? '',
    connectionsMax: 6,
    clock,
    onConnectionError: (error) => log.error('a database connection was lost', error),
    onAfterCommitError: (error) => log.error('what follows a commit failed', error),
  });
  const notifier = await startNotifier({ db, clock, onError: (error) => log.error('a hint was lost', error) });
  const { secrets, keyring } = await openSecrets(readSecrets(config, systemRandom), { db, clock });
  const app = await createApp({ config, secrets, keyring, db, notifier, clock, random: systemRandom, log });
  const { origin } = new URL(await app.start());
  return {
    url: origin,
    comeTo: async (moment) => {
      clock.set(moment);
      await app.drain();
    },
    stop: async () => {
      await app.close();
      await notifier.close();
      await db.close();
    },
  };
}
