/**
 * The service, put together as in server/src/main.ts, in a process that ends itself at a named point. Nothing in the
 * service knows of it: the database that it is handed tells of each step, and so do Node's own channels.
 *
 * Settings: those of the service, CRASH_NOW (the moment that its clock tells), and CRASH_POINT (a CrashPoint as JSON).
 * Without a point it lives on and prints each step.
 */
import { flushCompileCache } from 'node:module';
import { createApp } from '../../server/src/app.ts';
import { readConfig } from '../../server/src/config.ts';
import { openDatabase } from '../../server/src/kit/db.ts';
import { createLog } from '../../server/src/kit/log.ts';
import { startNotifier } from '../../server/src/kit/notifier.ts';
import { systemRandom } from '../../server/src/kit/random.ts';
import { readSecrets } from '../../server/src/secrets.ts';
import { CrashClock } from './crash-clock.ts';
import { dieAt, watchDatabase, watchHttp } from './crash-steps.ts';
import type { CrashPoint } from './crash-steps.ts';

const { CRASH_NOW = '', CRASH_POINT } = process.env;
const point = CRASH_POINT === undefined ? null : (JSON.parse(CRASH_POINT) as CrashPoint);
const tell = (line: string) => process.stdout.write(`${line}\n`);
const reach = point ? dieAt(point) : (...steps: string[]) => tell(`step ${steps.join('  ')}`);

const config = readConfig(process.env);
const clock = new CrashClock(new Date(CRASH_NOW));
const log = createLog({ level: config.logLevel });
// Not by openServiceDatabase: it refuses the tests' database server, which would lose rows in a power cut.
const opened = openDatabase({
  url: config.appDatabaseUrl ?? '',
  connectionsMax: 8,
  clock,
  onConnectionError: (error) => log.error('a database connection was lost', error),
  onAfterCommitError: (error) => log.error('what follows a commit failed', error),
  refuseNestedUse: true,
});
const db = watchDatabase(opened, reach);
watchHttp(reach);
const notifier = await startNotifier({ db, clock, onError: (error) => log.error('a hint was lost', error) });
const secrets = readSecrets(config, systemRandom);
const app = await createApp({ config, secrets, db, notifier, clock, random: systemRandom, log });
await app.start();
flushCompileCache();
tell(`Ready at ${app.publicUrl()}`);
