import { createServiceLog } from '../../server/src/api/service-log.ts';
import { createApp } from '../../server/src/app/app.ts';
import { readConfig } from '../../server/src/configuration/config.ts';
import { readSecrets, type Secrets } from '../../server/src/configuration/secrets.ts';
import { seededRandom } from '../../server/src/kit/random.ts';
import { openSecrets } from '../../server/src/process/open-secrets.ts';
import { createInProcessApi } from '../../server/src/http/in-process-api.ts';
import { memberPages, operatorPages, payerPages, serveApi } from '../../server/src/process/serve.ts';
import { testKeys } from '../harness/service.ts';
import type { ChangeFeeds } from './change-feed.ts';
import type { Commits } from './commits.ts';
import { asInstance, type Instance, type Machine } from './instance.ts';
import type { SharedDatabase } from './shared-database.ts';
import { scheduledDatabase } from './scheduled-database.ts';
import type { Scheduler } from './scheduler.ts';
import type { VirtualClock } from './virtual-clock.ts';

export const publicUrl = 'http://127.0.0.1:9001';
export const internalUrl = 'http://127.0.0.1:9000';

export type AppOptions = Parameters<typeof createApp>[0];

export interface MachineRoom {
  seed: string;
  shared: SharedDatabase;
  clock: VirtualClock;
  scheduler: Scheduler;
  feeds: ChangeFeeds;
  commits: Commits;
  /** The warnings and errors of all instances. */
  logLines: string[];
  /** What the next start of an instance has: the key that seals, and those that only open. */
  sealKeys: readonly string[];
  /** Of the simulated networks, which do not change them with the service's seal key, as no network would. */
  networkSecrets: Partial<NetworkSecrets>;
  /** Whether anybody opens the pages of payers. */
  hasPayers: boolean;
  /** Whether people of a business are signed in to the dashboard. */
  hasMembers: boolean;
  /** Whether operators are signed in to the console. */
  hasConsole: boolean;
  /** Ends a machine's instance and starts the next one. */
  restart: (machine: string) => Promise<void>;
}

export type NetworkSecrets = Pick<Secrets, 'simulatorCallbackSecret' | 'simulatorBearerSecret'>;

export function newMachine(name: string, role: Machine['role']): Machine {
  return { name, role, clockErrorMs: 0, databaseFault: undefined, runs: 0, instance: undefined };
}

export function settingsOf(
  { shared, sealKeys }: Pick<MachineRoom, 'shared' | 'sealKeys'>,
  role: Machine['role'],
): Record<string, string> {
  const [sealKey = '', ...older] = sealKeys;
  return {
    ...{ ...testKeys, SEAL_KEY: sealKey, SEAL_KEYS_OLD: older.join(',') },
    ...{ APP_ENV: 'development', LOG_LEVEL: 'warn', HOST: '127.0.0.1', PORT: '0', ROLE: role },
    ...{ DATABASE_URL: shared.database.appUrl, PUBLIC_URL: publicUrl, INTERNAL_URL: internalUrl },
  };
}

export function newInstance(machine: Machine): Instance {
  const name = `${machine.name}.${machine.runs}`;
  return { name, machine, hasCrashed: false, app: undefined, onCrash: new Set() };
}

/**
 * Starts the machine's next instance while all others stand still: a start reads files and opens a port, which the scheduler
 * does not see.
 */
export async function startInstance(room: MachineRoom, machine: Machine): Promise<void> {
  machine.runs += 1;
  const instance = newInstance(machine);
  machine.instance = instance;
  const { name } = instance;
  let failure: Error | undefined;
  const opening = asInstance(instance, () => openInstance(room, instance)).catch((error: unknown) => {
    failure = error instanceof Error ? error : new Error(String(error));
  });
  const { scheduler } = room;
  scheduler.note(`${name} starts`);
  while (!instance.app && failure === undefined) {
    await scheduler.settle();
    await scheduler.stepOf(instance);
  }
  await opening;
  if (failure !== undefined) throw failure;
  await scheduler.settle();
}

/** With no pages but those that somebody opens: the routes of all would cost each run a quarter of its time. */
async function openInstance(room: MachineRoom, instance: Instance): Promise<void> {
  const isApi = instance.machine.role === 'api';
  const app = await createApp(await appOptionsOf(room, instance), async (server, options, parts) => {
    const { runContext, routes } = await serveApi(server, options, parts);
    if (isApi && room.hasPayers) await payerPages(server, { options, parts });
    if (isApi && room.hasMembers)
      await memberPages(server, { options, parts, api: createInProcessApi(runContext, routes) });
    if (isApi && room.hasConsole) await operatorPages(server, { options, parts });
  });
  await app.start();
  instance.app = app;
}

/** What the code of an instance is handed instead of the real things. */
export async function appOptionsOf(room: MachineRoom, instance: Instance): Promise<AppOptions> {
  const { machine, name } = instance;
  const { scheduler, feeds, logLines, commits } = room;
  const clock = room.clock.ofMachine(machine);
  const log = createServiceLog({ level: 'warn', write: (line) => logLines.push(`${name} ${line}`) });
  const db = scheduledDatabase(room.shared.connections, { scheduler, instance, clock, log, commits });
  const config = readConfig(settingsOf(room, machine.role));
  const random = seededRandom(`${room.seed} ${name}`);
  const { secrets, keyring } = await openSecrets(readSecrets(config, random), { db, clock });
  const fixed = { ...secrets, ...room.networkSecrets };
  return { config, secrets: fixed, keyring, db, notifier: feeds.of(instance), clock, random, log };
}

/** Ends an instance at once: its code never goes on, and its transactions are rolled back. */
export async function crash(room: MachineRoom, instance: Instance): Promise<void> {
  const { machine } = instance;
  const waiting = await listWaiting(room, instance);
  instance.hasCrashed = true;
  if (machine.instance === instance) machine.instance = undefined;
  room.scheduler.forget(instance);
  room.clock.forget(instance);
  room.feeds.forget(instance);
  instance.app?.server.server.close();
  for (const fail of instance.onCrash) fail();
  for (const pid of waiting) await room.shared.cancelStatement(pid);
}

/** The processes of PostgreSQL that wait for locks for an instance. */
async function listWaiting({ scheduler, shared }: MachineRoom, instance: Instance): Promise<number[]> {
  const current = scheduler.currentStatements();
  if (!current.some(({ owner }) => owner === instance)) return [];
  // Both are in the order in which they began.
  const waits = await shared.listLockWaits();
  return waits.filter((_, index) => current[index]?.owner === instance).map(({ pid }) => pid);
}
