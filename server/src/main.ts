import { createApp } from './app.ts';
import { readConfig } from './config.ts';
import type { Config } from './config.ts';
import { prepareDemo, writeFacts } from './demo.ts';
import type { DemoFacts } from './demo.ts';
import { systemClock } from './kit/clock.ts';
import { uuidV7 } from './kit/ids.ts';
import { createLog } from './kit/log.ts';
import type { Log } from './kit/log.ts';
import { startNotifier } from './kit/notifier.ts';
import { outboundPolicy } from './kit/outbound-guard.ts';
import { systemRandom } from './kit/random.ts';
import { errorCode, StartError } from './kit/start-error.ts';
import { openServiceDatabase } from './open-service.ts';
import { readSecrets } from './secrets.ts';

// A load balancer that is told by /readyz, and the slowest request, fit in; then the process must be gone.
const shutdownMaxMs = 25_000;

const tell = (sentence: string): void => {
  process.stdout.write(`${sentence}\n`);
};

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const log = createLog({ level: config.logLevel });
  const stop = stopSignal();
  const clock = systemClock;
  const random = systemRandom;
  const opened = await openServiceDatabase(config, { clock, log, tell });
  const closing: (() => Promise<void>)[] = [opened.close];
  try {
    const { db } = opened;
    const secrets = readSecrets(config, random);
    const notifier = await startNotifier({ db, clock, onError: (error) => log.error('a hint was lost', error) });
    closing.unshift(() => notifier.close());
    const app = await createApp({ config, secrets, db, notifier, clock, random, log });
    closing.unshift(() => app.close());
    const context = {
      clock,
      random,
      newId: () => uuidV7(clock, random),
      ...secrets,
      urlPolicy: (testMode: boolean) => outboundPolicy({ production: config.production, testMode }),
    };
    const demo = config.role === 'worker' ? null : await prepareDemo(config, { db, context });
    const baseUrl = await listen(app.start, config);
    if (demo) writeFacts(config, { ...demo, base_url: baseUrl });
    greet(config, baseUrl, demo);
    const reason = await Promise.race([stop, opened.lost.then(() => 'lost' as const)]);
    if (reason === 'lost')
      throw new StartError('The database server has ended by itself; its log is in the data directory.');
    tell('Stopping: finishing what is under way.');
  } finally {
    await closeAll(closing, log);
  }
  tell('Stopped.');
}

/** Resolves at the first Ctrl-C or SIGTERM; further ones change nothing, the first is being obeyed. */
function stopSignal(): Promise<'signal'> {
  const { promise, resolve } = Promise.withResolvers<'signal'>();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve('signal'));
  return promise;
}

async function listen(start: () => Promise<string>, config: Config): Promise<string> {
  try {
    const { port } = new URL(await start());
    return config.publicUrl ?? `http://localhost:${port}`;
  } catch (error) {
    switch (errorCode(error)) {
      case 'EADDRINUSE':
        throw new StartError(`Port ${config.port} is in use; stop what uses it, or set PORT to another one.`);
      case 'EACCES':
        throw new StartError(`Port ${config.port} may not be used by this user; set PORT to one above 1023.`);
      case 'EADDRNOTAVAIL':
      case 'ENOTFOUND':
        throw new StartError(`HOST ${config.host} is not an address of this machine.`);
      default:
        throw error;
    }
  }
}

function greet(config: Config, baseUrl: string, demo: DemoFacts | null): void {
  tell(`\nDalasi is ready at ${baseUrl}${config.role === 'all' ? '' : ` (${config.role})`}`);
  if (config.role === 'worker') return;
  tell(`  API reference    ${baseUrl}/docs`);
  if (!demo) return;
  tell(`  Simulated phone  ${baseUrl}/simulator/phone
  Test secret key  ${demo.secret_key}

Take a first payment:

  curl -s ${baseUrl}/v1/payments -H 'Authorization: Bearer ${demo.secret_key}' -H 'Content-Type: application/json' -d '{"data":{"amount":100,"title":"My first payment"}}'

then open the payment_link of the answer.`);
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
