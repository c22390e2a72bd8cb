import { createStartupLog, type Streams, type StartupLog } from './startup-log.ts';
import {
  assertPortFree,
  listenError,
  listensOnAllAddresses,
  plainPublicUrl,
  sendsKeysInTheClear,
} from './listen-address.ts';
import { readConfig, type Config } from '../configuration/config.ts';
import { misspeltSettings } from '../configuration/misspelt-settings.ts';
import { factsAt, prepareDemo, writeFacts, type DemoFacts } from './demo.ts';
import { systemClock } from '../kit/clock.ts';
import { createServiceLog } from '../api/service-log.ts';
import type { Log } from '../kit/log.ts';
import { startNotifier } from '../kit/notifier.ts';
import { systemRandom } from '../kit/random.ts';
import { createSaturationMeter } from '../kit/saturation.ts';
import { StartError } from '../kit/start-error.ts';
import { openSecrets } from './open-secrets.ts';
import { openServiceDatabase, type OpenedDatabase } from './open-service.ts';
import { createOnboardingContext } from '../operator/onboard-business.ts';
import { readSecrets, type ConfiguredSecrets } from '../configuration/secrets.ts';

/** The environment, the output and the stop signal of a process. */
export interface ServiceProcess extends Streams {
  environment: Readonly<Record<string, string | undefined>>;
  stderr: Streams['stderr'] & { write(text: string): unknown };
  /** Writes a line of the log. Default: to standard error, without blocking. */
  writeLog?: (line: string) => void;
  /** Resolves when the service has to stop. */
  stop: Promise<unknown>;
}

/** The parts of one run of the service. */
interface Run {
  config: Config;
  log: Log;
  logStartup: StartupLog;
  print: (text: string) => void;
  secrets: ConfiguredSecrets;
  /** Of `misspeltSettings`. */
  misspelt: readonly string[];
  stop: Promise<unknown>;
}

// Enough for a load balancer to notice /readyz and for the slowest request.
const shutdownMaxMs = 25_000;
// Enough to finish creating a database; a recovery or a wait for a lock is abandoned.
const unfinishedStartMaxMs = 5_000;

const noMailServer = 'SMTP_URL is not set: nobody gets links to confirm an address or to choose a password';

const unverifiedPepper =
  'KEY_PEPPER cannot be verified before the first request with an API key; to confirm it now: npm run operator -- secrets accept KEY_PEPPER';

/**
 * Runs the service until `stop` resolves or it fails, and resolves to the exit code. A failure is printed to standard error:
 * a StartError as its sentence, any other error with its stack. The caller must then end the process: a hanging step is
 * abandoned and may still hold a connection.
 */
export async function runService(service: ServiceProcess): Promise<number> {
  try {
    await startAndServe(service);
    return 0;
  } catch (error) {
    service.stderr.write(`${describeFailure(error)}\n`);
    return 1;
  }
}

function describeFailure(error: unknown): string {
  if (error instanceof StartError) return error.message;
  return String(error instanceof Error ? error.stack : error);
}

async function startAndServe({ environment, stdout, stderr, writeLog: write, stop }: ServiceProcess): Promise<void> {
  const config = readConfig(environment);
  const log = createServiceLog({ level: config.logLevel, isTerminal: stderr.isTTY === true, ...(write && { write }) });
  const logStartup = createStartupLog(log, { stdout, stderr });
  const print = (text: string): unknown => stdout.write(`${text}\n`);
  await assertPortFree(config);
  const secrets = readSecrets(config, systemRandom);
  const misspelt = misspeltSettings(environment);
  const run = { config, log, logStartup, print, secrets, misspelt, stop };
  const opened = await openUnlessStopped(run);
  if (opened) await serveUntilStopped(run, opened);
  logStartup('Stopped.');
}

/** Null if the stop comes first: no request has been served, so there is nothing to finish. */
async function openUnlessStopped({ config, log, logStartup, secrets, stop }: Run): Promise<OpenedDatabase | null> {
  const opening = openServiceDatabase(config, { clock: systemClock, log, logStartup, secrets });
  const opened = await Promise.race([opening, stop.then(() => null)]);
  if (opened) return opened;
  logStartup('Stopping before the start is complete.');
  const enough = new AbortController();
  const timeLimit = systemClock.sleep(unfinishedStartMaxMs, enough.signal).then(() => null);
  try {
    const finished = await Promise.race([opening, timeLimit]);
    await finished?.close();
  } finally {
    enough.abort();
  }
  return null;
}

async function serveUntilStopped(run: Run, opened: OpenedDatabase): Promise<void> {
  const { config, log, logStartup, stop } = run;
  const [clock, random, { db }] = [systemClock, systemRandom, opened];
  const closing: (() => Promise<void>)[] = [opened.close];
  try {
    for (const misspelt of run.misspelt) log.warn(misspelt);
    if (sendsKeysInTheClear(config)) log.warn(plainPublicUrl);
    if (config.production && config.smtp === null) log.warn(noMailServer);
    const { secrets, keyring } = await openSecrets(run.secrets, { db, clock });
    if ((await keyring.state()).pepper === 'unverified') log.warn(unverifiedPepper);
    const notifier = await startNotifier({
      db,
      clock,
      onError: (error) => log.error('a notification was lost', error),
    });
    closing.unshift(() => notifier.close());
    // Loading it takes most of a start, so what ends a start comes before.
    const { createApp } = await import('../app/app.ts');
    const isSaturated = createSaturationMeter();
    const app = await createApp({ config, secrets, keyring, db, notifier, clock, random, log, isSaturated });
    let closingNoticeMs = 0;
    closing.unshift(() => app.close({ noticeMs: closingNoticeMs }));
    const context = createOnboardingContext(config, { clock, random, secrets });
    const demo = config.role === 'worker' ? null : await prepareDemo(config, { db, context, logStartup });
    // Opening the database takes time, and a socket that shares its port is refused by none that does too.
    await assertPortFree(config);
    await app.start().catch((error: unknown) => {
      throw listenError(config, error);
    });
    const baseUrl = app.publicUrl();
    if (demo) writeFacts(config, factsAt(baseUrl, demo));
    greet(run, { ownUrl: app.ownUrl(), baseUrl, liveNetworks: app.liveNetworks, demo });
    const reason = await Promise.race([stop.then(() => 'stop' as const), opened.exited.then(() => 'lost' as const)]);
    if (reason === 'lost') {
      throw new StartError('The bundled PostgreSQL has stopped unexpectedly; see postgres.log in the data directory.');
    }
    logStartup('Stopping: finishing requests and tasks under way.');
    if (config.role !== 'worker') ({ closingNoticeMs } = config);
  } finally {
    await closeAll(closing, log);
  }
}

interface Greeting {
  /** The address of this process. */
  ownUrl: string;
  baseUrl: string;
  liveNetworks: readonly string[];
  demo: DemoFacts | null;
}

/** Only the first line goes to the log: the others hold a key. */
function greet({ config, logStartup, print }: Run, { ownUrl, baseUrl, liveNetworks, demo }: Greeting): void {
  print('');
  logStartup(`Dalasi is ready at ${ownUrl}${config.role === 'all' ? '' : ` (${config.role})`}`);
  if (listensOnAllAddresses(config)) print(`  Listens on       ${config.host}:${new URL(ownUrl).port} (all addresses)`);
  if (baseUrl !== ownUrl) print(`  Public address   ${baseUrl}`);
  if (config.role === 'worker') return;
  print(`  Dashboard        ${baseUrl}/dashboard`);
  print(`  API reference    ${baseUrl}/docs`);
  print(`  Live networks    ${liveNetworks.join(', ') || 'none connected; live payments are refused'}`);
  if (!demo) return;
  if (demo.dashboard) print(`  Sign in as       ${demo.dashboard.email}, password ${demo.dashboard.password}`);
  print(`  Simulated phone  ${baseUrl}/simulator/phone
  Test secret key  ${demo.secret_key}

Take a first payment:

  curl -s ${baseUrl}/v1/payments -H 'Authorization: Bearer ${demo.secret_key}' -H 'Content-Type: application/json' -d '{"data":{"amount":100,"title":"My first payment"}}'

then open the payment_link of the response.`);
}

/** Closes in order of dependency, within a time limit. */
async function closeAll(closing: readonly (() => Promise<void>)[], log: Log): Promise<void> {
  const timedOut = new AbortController();
  const all = async (): Promise<void> => {
    for (const close of closing) await close().catch((error: unknown) => log.error('closing failed', error));
    timedOut.abort();
  };
  await Promise.race([all(), systemClock.sleep(shutdownMaxMs, timedOut.signal)]);
}
