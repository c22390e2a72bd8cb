/**
 * A moved service in a process of its own: on SIGUSR2 it takes the moment that stands in the file, does all that is due
 * then, and prints `came to <moment>`.
 *
 * Settings: those of the service, and CLOCK_FILE.
 */
import { readFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { startMovedService } from './moved-service.ts';

const tell = (what: string): unknown => process.stdout.write(`${what}\n`);
const readMoment = (): Date => new Date(readFileSync(process.env['CLOCK_FILE'] ?? '', 'utf8'));

// It may be killed at any moment: otherwise no start would be quicker than the first.
flushCompileCache();
const service = await startMovedService({ settings: process.env, now: readMoment() });

process.on('SIGUSR2', () => void comeTo(readMoment()));
process.once('SIGTERM', () => void service.stop().then(() => process.exit(0)));
tell(`ready at ${service.url}`);

async function comeTo(moment: Date): Promise<void> {
  await service.comeTo(moment);
  tell(`came to ${moment.toISOString()}`);
}
