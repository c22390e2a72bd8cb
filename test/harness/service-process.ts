import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from './eventually.ts';
import type { ProcessWorld, TestProcess } from './process.ts';
import { testKeys, type TestService } from './service.ts';
import type { Settings } from './service-world.ts';
import type { WatchedFigures } from './watched-process.ts';

const program = fileURLToPath(import.meta.resolve('./manual-clock-service-process.ts'));
const watched = import.meta.resolve('./watched-process.ts');

/** An API process on a test service's database, whose clock stands. */
export interface ServiceProcess {
  url: string;
  process: TestProcess;
  /** What it holds now, and how long its event loop was kept busy since the last call. */
  figures(): Promise<WatchedFigures>;
}

export async function startServiceProcess(
  world: ProcessWorld,
  { clock, database }: Pick<TestService, 'clock' | 'database'>,
  settings: Settings = {},
): Promise<ServiceProcess> {
  const clockFile = join(dirname(world.newDataDirectory()), 'clock');
  writeFileSync(clockFile, clock.now().toISOString());
  const started = world.start([process.execPath, '--import', watched, program], {
    ...{ ...testKeys, APP_ENV: 'development', LOG_LEVEL: 'error', ROLE: 'api', PORT: '0' },
    ...{ CLOCK_FILE: clockFile, APP_DATABASE_URL: database.appUrl, ...settings },
  });
  const [, url = ''] = await started.printed(/^ready at (\S+)/m);
  const lines = (): string[] => started.stdout().match(/^watched .*$/gm) ?? [];
  return {
    url,
    process: started,
    figures: async () => {
      const before = lines().length;
      started.signal('SIGHUP');
      await eventually('the process has printed its figures', () => lines().length > before);
      return JSON.parse(lines().at(-1)?.slice('watched '.length) ?? '') as WatchedFigures;
    },
  };
}
