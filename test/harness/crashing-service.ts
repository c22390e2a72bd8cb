/**
 * Services, each put together as in server/src/main.ts, in a process that is killed when each has come to a named point.
 * Nothing in the service knows of it: the database that it is handed tells of each step, and so do Node's own channels.
 * One service ends the process itself, at its very point. Of several, each stands still at its point until the test ends
 * all of them: starting a process costs four times as much as a service in it.
 *
 * Setting: CRASH_VICTIMS, a list of Victim as JSON.
 */
import { flushCompileCache } from 'node:module';
import { readConfig } from '../../server/src/configuration/config.ts';
import { createLog } from '../../server/src/kit/log.ts';
import { assembleService } from './assemble-service.ts';
import { SettableClock } from './settable-clock.ts';
import { stepsUntil, watchDatabase, watchHttp } from './crash-steps.ts';
import type { CrashPoint, Steps } from './crash-steps.ts';

/** A service that is to die. */
export interface Victim {
  settings: Record<string, string>;
  /** The moment that its clock tells. */
  now: string;
  /** Null lives on and prints its steps. */
  point: CrashPoint | null;
  /** The ports that it calls. */
  ports: number[];
}

// Before anything can end it: otherwise no start would be quicker than the first.
flushCompileCache();
const victims = JSON.parse(process.env['CRASH_VICTIMS'] ?? '') as Victim[];
const stepsByPort = new Map<number, Steps>();
watchHttp((port) => stepsByPort.get(port));
await Promise.all(victims.map(start));

async function start(victim: Victim, index: number): Promise<void> {
  const print = (line: string): unknown => process.stdout.write(`${index} ${line}\n`);
  const steps = stepsOf(victim, print);
  for (const port of victim.ports) stepsByPort.set(port, steps);
  const config = readConfig(victim.settings);
  const clock = new SettableClock(new Date(victim.now));
  const log = createLog({ level: config.logLevel });
  const { app } = await assembleService({
    config,
    clock,
    log,
    url: config.appDatabaseUrl ?? '',
    connectionsMax: 3,
    watch: (db) => watchDatabase(db, steps),
  });
  const url = new URL(await app.start());
  stepsByPort.set(Number(url.port), steps);
  print(`ready at ${url.origin}`);
}

function stepsOf({ point }: Victim, print: (line: string) => unknown): Steps {
  if (point === null) {
    const reach: Steps['reach'] = (...steps) => {
      if (steps.length > 0) print(`step ${steps.join('  ')}`);
      return undefined;
    };
    return { reach, haveEnded: false };
  }
  return stepsUntil(point, () => {
    if (victims.length === 1) process.kill(process.pid, 'SIGKILL');
    print('is there');
  });
}
