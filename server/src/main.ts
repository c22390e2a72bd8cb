import { createTeller } from './announce.ts';
import type { Tell } from './announce.ts';
import { createApp } from './app.ts';
import { listenError, refuseTakenPort } from './claim-port.ts';
import { readConfig } from './config.ts';
import type { Config } from './config.ts';
import { prepareDemo, writeFacts } from './demo.ts';
import type { DemoFacts } from './demo.ts';
import { systemClock } from './kit/clock.ts';
import { uuidV7 } from './kit/ids.ts';
import { createLog } from './kit/log.ts';
import type { Log } from './kit/log.ts';
import { startNotifier } from './kit/notifier.ts';
import { systemRandom } from './kit/random.ts';
import { StartError } from './kit/start-error.ts';
import { openSecrets } from './open-secrets.ts';
import { openServiceDatabase } from './open-service.ts';
import type { OpenedDatabase } from './open-service.ts';
import { urlPolicyOf } from './own-hosts.ts';
import { readSecrets } from './secrets.ts';
import type { ConfiguredSecrets } from './secrets.ts';

// A load balancer that is told by /readyz, and the slowest request, fit in; then the process must be gone.
const shutdownMaxMs = 25_000;
// A database that is being made is complete after this; one that repeats its log, or waits for a lock, is not waited for.
const unfinishedStartMaxMs = 5_000;

const unverifiedPepper =
  'KEY_PEPPER cannot be verified before the first request with an API key; to confirm it now: npm run operator -- secrets accept KEY_PEPPER';

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const log = createLog({ level: config.logLevel, isTerminal: process.stderr.isTTY });
  const tell = createTeller(log, process);
  const stop = stopSignal();
  await refuseTakenPort(config);
  const secrets = readSecrets(config, systemRandom);
  const opening = openServiceDatabase(config, { clock: systemClock, log, tell, secrets });
  const opened = await openUnlessStopped(opening, { stop, tell });
  if (opened) await serveUntilStopped(config, opened, { log, stop, tell, secrets });
  tell('Stopped.');
}

/** Null when the signal came first: nothing has been answered yet, so there is nothing to finish. */
async function openUnlessStopped(
  opening: Promise<OpenedDatabase>,
  { stop, tell }: { stop: Promise<'signal'>; tell: Tell },
): Promise<OpenedDatabase | null> {
  const opened = await Promise.race([opening, stop.then(() => null)]);
  if (opened) return opened;
  tell('Stopping before the start is complete.');
  const finished = await Promise.race([opening, systemClock.sleep(unfinishedStartMaxMs).then(() => null)]);
  await finished?.close();
  return null;
}

async function serveUntilStopped(
  config: Config,
  opened: OpenedDatabase,
  {
    log,
    stop,
    tell,
    secrets: configured,
  }: { log: Log; stop: Promise<'signal'>; tell: Tell; secrets: ConfiguredSecrets },
): Promise<void> {
  const [clock, random, { db }] = [systemClock, systemRandom, opened];
  const closing: (() => Promise<void>)[] = [opened.close];
  try {
    const { secrets, keyring } = await openSecrets(configured, { db, clock });
    if ((await keyring.state()).pepper === 'unverified') log.warn(unverifiedPepper);
    const notifier = await startNotifier({ db, clock, onError: (error) => log.error('a hint was lost', error) });
    closing.unshift(() => notifier.close());
    const app = await createApp({ config, secrets, keyring, db, notifier, clock, random, log });
    let closingNoticeMs = 0;
    closing.unshift(() => app.close({ noticeMs: closingNoticeMs }));
    const context = {
      clock,
      random,
      newId: () => uuidV7(clock, random),
      ...secrets,
      urlPolicy: urlPolicyOf(config),
    };
    const demo = config.role === 'worker' ? null : await prepareDemo(config, { db, context, tell });
    await app.start().catch((error: unknown) => {
      throw listenError(config, error);
    });
    const baseUrl = app.publicUrl();
    if (demo) writeFacts(config, { ...demo, base_url: baseUrl });
    greet(config, { ownUrl: app.ownUrl(), baseUrl, liveNetworks: app.liveNetworks, demo }, tell);
    const reason = await Promise.race([stop, opened.lost.then(() => 'lost' as const)]);
    if (reason === 'lost') {
      throw new StartError('The database server has ended by itself; its log, postgres.log, is in the data directory.');
    }
    tell('Stopping: finishing what is under way.');
    if (config.role !== 'worker') ({ closingNoticeMs } = config);
  } finally {
    await closeAll(closing, log);
  }
}

/** Resolves at the first Ctrl-C or SIGTERM, or when the terminal is closed; further ones change nothing. */
function stopSignal(): Promise<'signal'> {
  const { promise, resolve } = Promise.withResolvers<'signal'>();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve('signal'));
  return promise;
}

interface Greeting {
  /** Where this process itself listens. */
  ownUrl: string;
  baseUrl: string;
  liveNetworks: readonly string[];
  demo: DemoFacts | null;
}

/** What stands below the first line is for whoever looks at it, and has a key in it: none of it is for the log. */
function greet(config: Config, { ownUrl, baseUrl, liveNetworks, demo }: Greeting, tell: Tell): void {
  print('');
  tell(`Dalasi is ready at ${ownUrl}${config.role === 'all' ? '' : ` (${config.role})`}`);
  if (baseUrl !== ownUrl) print(`  Public address   ${baseUrl}`);
  if (config.role === 'worker') return;
  print(`  API reference    ${baseUrl}/docs`);
  print(`  Live networks    ${liveNetworks.join(', ') || 'none is connected, so live keys take no payments yet'}`);
  if (!demo) return;
  print(`  Simulated phone  ${baseUrl}/simulator/phone
  Test secret key  ${demo.secret_key}

Take a first payment:

  curl -s ${baseUrl}/v1/payments -H 'Authorization: Bearer ${demo.secret_key}' -H 'Content-Type: application/json' -d '{"data":{"amount":100,"title":"My first payment"}}'

then open the payment_link of the answer.`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** In the order in which things lean on each other; whatever hangs does not keep the process for ever. */
async function closeAll(closing: readonly (() => Promise<void>)[], log: Log): Promise<void> {
  const gaveUp = new AbortController();
  const all = async (): Promise<void> => {
    for (const close of closing) await close().catch((error: unknown) => log.error('closing failed', error));
    gaveUp.abort();
  };
  await Promise.race([all(), systemClock.sleep(shutdownMaxMs, gaveUp.signal)]);
}

// Whoever read what we say may have gone (`npm start | head`, a closed terminal); that must not end a running service.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

try {
  await main();
  process.exitCode = 0;
} catch (error) {
  if (error instanceof StartError) process.stderr.write(`${error.message}\n`);
  else process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
}
// Whatever still holds the process is nobody's: everything with a state has been closed.
process.exit();
