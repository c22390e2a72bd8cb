/**
 * A `ManualClockService` in its own process: on SIGUSR2 it reads the time from the file, does all that is due then, and
 * prints `came to <time>`.
 *
 * Settings: those of the service, and CLOCK_FILE.
 */
import { readFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { startManualClockService } from './manual-clock-service.ts';

const print = (line: string): unknown => process.stdout.write(`${line}\n`);
const readTime = (): Date => new Date(readFileSync(process.env['CLOCK_FILE'] ?? '', 'utf8'));

// Before a kill can prevent it: otherwise no start would be faster than the first.
flushCompileCache();
const service = await startManualClockService({ settings: process.env, now: readTime() });

process.on('SIGUSR2', () => void advanceTo(readTime()));
process.once('SIGTERM', () => void service.stop().then(() => process.exit(0)));
print(`ready at ${service.url}`);

async function advanceTo(time: Date): Promise<void> {
  await service.advanceTo(time);
  print(`came to ${time.toISOString()}`);
}
