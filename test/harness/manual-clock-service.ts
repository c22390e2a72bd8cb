import { readConfig } from '../../server/src/configuration/config.ts';
import { createLog } from '../../server/src/kit/log.ts';
import { assembleService } from './assemble-service.ts';
import { SettableClock } from './settable-clock.ts';

/** A service whose clock stands still until the test moves it. */
export interface ManualClockService {
  /** Where it listens. */
  url: string;
  /** It is `moment` now; resolves when all is done that is due then. */
  advanceTo(time: Date): Promise<void>;
  stop(): Promise<void>;
}

interface ManualClockServiceOptions {
  settings: Readonly<Record<string, string | undefined>>;
  now: Date;
  /** Takes the lines of the log. Default: standard error. */
  writeLog?: (line: string) => void;
}

/** The service as in server/src/process/run-service.ts, on a database that is there already. */
export async function startManualClockService({
  settings,
  now,
  writeLog: write,
}: ManualClockServiceOptions): Promise<ManualClockService> {
  const config = readConfig(settings);
  const clock = new SettableClock(now);
  const log = createLog({ level: config.logLevel, ...(write && { write }) });
  const url = config.appDatabaseUrl ?? '';
  const { app, close } = await assembleService({ config, clock, log, url, connectionsMax: 6 });
  const { origin } = new URL(await app.start());
  return {
    url: origin,
    advanceTo: async (time) => {
      clock.set(time);
      await app.drain();
    },
    stop: close,
  };
}
