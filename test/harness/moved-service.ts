/**
 * The service as in server/src/main.ts, in a process of its own, whose clock stands still until the test moves it: on
 * SIGUSR2 it takes the moment that stands in the file, does all that is due then, and prints `came to <moment>`.
 *
 * Settings: those of the service, and CLOCK_FILE.
 */
import { readFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { createApp } from '../../server/src/app.ts';
import { readConfig } from '../../server/src/config.ts';
import { openDatabase } from '../../server/src/kit/db.ts';
import { createLog } from '../../server/src/kit/log.ts';
import { startNotifier } from '../../server/src/kit/notifier.ts';
import { systemRandom } from '../../server/src/kit/random.ts';
import { openSecrets } from '../../server/src/open-secrets.ts';
import { readSecrets } from '../../server/src/secrets.ts';
import { CrashClock } from './crash-clock.ts';

const tell = (what: string): unknown => process.stdout.write(`${what}\n`);
const readMoment = (): Date => new Date(readFileSync(process.env['CLOCK_FILE'] ?? '', 'utf8'));

// It may be killed at any moment: otherwise no start would be quicker than the first.
flushCompileCache();
const config = readConfig(process.env);
const clock = new CrashClock(readMoment());
const log = createLog({ level: config.logLevel });
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

process.on('SIGUSR2', () => void comeTo(readMoment()));
process.once('SIGTERM', () => void stop());
tell(`ready at ${origin}`);

async function comeTo(moment: Date): Promise<void> {
  clock.set(moment);
  await app.drain();
  tell(`came to ${moment.toISOString()}`);
}

async function stop(): Promise<void> {
  await app.close();
  await notifier.close();
  await db.close();
  process.exit(0);
}
