import { readConfig } from '../../server/src/configuration/config.ts';
import { createServiceLog } from '../../server/src/api/service-log.ts';
import { assembleService } from './assemble-service.ts';
import { SettableClock } from './settable-clock.ts';

/** A service whose clock stops until the test moves it. */
export interface ManualClockService {
  /** Where it listens. */
  url: string;
  /** Sets the clock; resolves when everything due then is done. */
  advanceTo(time: Date): Promise<void>;
  stop(): Promise<void>;
}

interface ManualClockServiceOptions {
  settings: Readonly<Record<string, string | undefined>>;
  now: Date;
  /** Receives the log lines. Default: standard error. */
  writeLog?: (line: string) => void;
}

/** Starts the service as server/src/process/run-service.ts does, on an existing database. */
export async function startManualClockService({
  settings,
  now,
  writeLog: write,
}: ManualClockServiceOptions): Promise<ManualClockService> {
  const config = readConfig(settings);
  const clock = new SettableClock(now);
  const log = createServiceLog({ level: config.logLevel, ...(write && { write }) });
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
