/**
 * Services as server/src/main.ts builds them, in a process that is killed once each is at its crash point. The service
 * does not know: a wrapped database and Node's diagnostics channels report the steps. Of several, each halts at its
 * point until the test kills them all: starting a process costs four times as much as starting a service in it. A single
 * service kills the process itself, exactly at its point, and so does the last of several at a point that needs it.
 *
 * Setting: CRASH_VICTIMS, a list of Victim as JSON.
 */
import { flushCompileCache } from 'node:module';
import { readConfig } from '../../server/src/configuration/config.ts';
import { addMs } from '../../server/src/kit/clock.ts';
import { createServiceLog } from '../../server/src/api/service-log.ts';
import { assembleService, withoutPortal } from './assemble-service.ts';
import { SettableClock } from './settable-clock.ts';
import { startLastSignal, stepsUntil, watchDatabase, watchHttp, type CrashPoint, type Steps } from './crash-steps.ts';

/** A service that will be killed. */
export interface Victim {
  settings: Record<string, string>;
  /** The time of its clock. */
  now: string;
  /** Null: it runs through and prints its steps. */
  point: CrashPoint | null;
  /** The time that passes once it runs. */
  runsForMs: number;
  /** The ports that it calls. */
  ports: number[];
}

// Before a kill can prevent it: otherwise no start would be faster than the first.
flushCompileCache();
const victims = JSON.parse(process.env['CRASH_VICTIMS'] ?? '') as Victim[];
const stepsByPort = new Map<number, Steps>();
watchHttp((port) => stepsByPort.get(port));
const isLast = (victim: Victim) => victims.length > 1 && victim.point?.killsItself === true;
process.once(startLastSignal, () => void startAll(isLast));
await startAll((victim) => !isLast(victim));

async function startAll(isStarted: (victim: Victim) => boolean): Promise<void> {
  const indexes = [...victims.keys()].filter((index) => isStarted(victims[index] as Victim));
  await Promise.all(indexes.map((index) => start(victims[index] as Victim, index)));
}

async function start(victim: Victim, index: number): Promise<void> {
  const print = (line: string): unknown => process.stdout.write(`${index} ${line}\n`);
  const steps = stepsOf(victim, print);
  for (const port of victim.ports) stepsByPort.set(port, steps);
  const config = readConfig(victim.settings);
  const clock = new SettableClock(new Date(victim.now));
  const log = createServiceLog({ level: config.logLevel });
  const { app } = await assembleService({
    config,
    clock,
    log,
    url: config.appDatabaseUrl ?? '',
    connectionsMax: 2,
    serve: withoutPortal,
    watch: (db) => watchDatabase(db, steps),
  });
  const url = new URL(await app.start());
  stepsByPort.set(Number(url.port), steps);
  print(`ready at ${url.origin}`);
  if (victim.runsForMs === 0) return;
  clock.set(addMs(clock.now(), victim.runsForMs));
  // It may halt at its point in the middle, so nobody waits for its end.
  void app.drain();
}

function stepsOf(victim: Victim, print: (line: string) => unknown): Steps {
  const { point } = victim;
  if (point === null) {
    const reach: Steps['reach'] = (...steps) => {
      if (steps.length > 0) print(`step ${steps.join('  ')}`);
      return undefined;
    };
    return { reach, haveEnded: false };
  }
  return stepsUntil(point, () => {
    if (victims.length === 1 || isLast(victim)) process.kill(process.pid, 'SIGKILL');
    print('is there');
  });
}
