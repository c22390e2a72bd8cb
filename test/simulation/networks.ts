import Fastify, { type FastifyInstance } from 'fastify';
import { createServiceLog } from '../../server/src/api/service-log.ts';
import type { Secrets } from '../../server/src/configuration/secrets.ts';
import type { Clock } from '../../server/src/kit/clock.ts';
import type { Database } from '../../server/src/kit/db.ts';
import { seededRandom } from '../../server/src/kit/random.ts';
import { waveTestAccount } from '../../server/src/networks/wave/test-account.ts';
import { createCallbackSender } from '../../simulator/callback-sender.ts';
import { simulatorRoutes } from '../../simulator/routes.ts';
import { createSimulator, type Simulator } from '../../simulator/simulator.ts';
import { createNetworkWires } from '../../simulator/wires.ts';
import { orderedRows } from './scheduled-database.ts';
import type { Scheduler } from './scheduler.ts';

export interface Networks {
  server: FastifyInstance;
  act: Simulator['act'];
  statements: Simulator['statements'];
  /** Sends callbacks when they are due, as long as the run lasts. */
  sendCallbacks(): Promise<void>;
}

export interface NetworksOptions {
  db: Database;
  clock: Clock;
  scheduler: Scheduler;
  secrets: Secrets;
  seed: string;
  publicUrl: string;
  internalUrl: string;
}

/**
 * The simulated networks, on a machine and a clock of their own: they do not crash with the service and take one step for each
 * request.
 */
export async function startNetworks(options: NetworksOptions): Promise<Networks> {
  const { db, clock, scheduler, secrets, seed, publicUrl, internalUrl } = options;
  const wires = createNetworkWires({ callbackSecret: secrets.simulatorCallbackSecret, publicUrl: () => publicUrl });
  const random = seededRandom(`${seed} networks`);
  let hasNew = Promise.withResolvers<void>();
  const simulator = createSimulator({ db, clock, random, wires, notifySender: () => hasNew.resolve() });
  const sender = createCallbackSender({ db, clock, wires });
  const sendCallbacks = async (): Promise<void> => {
    while (scheduler.isOn) {
      await scheduler.waitForStep('networks send callbacks');
      hasNew = Promise.withResolvers();
      await sender.sendDueCallbacks();
      const dueAt = await sender.nextDueAt();
      const due = dueAt && clock.sleep(dueAt.getTime() - clock.now().getTime());
      await Promise.race(due ? [hasNew.promise, due] : [hasNew.promise]);
    }
  };
  const server = Fastify();
  await server.register(
    simulatorRoutes({
      ...{ simulator, db, clock, publicUrl: () => publicUrl, bearerSecret: secrets.simulatorBearerSecret },
      log: createServiceLog({ level: 'error', write: () => {} }),
      webhookUrl: () => `${internalUrl}/networks/${waveTestAccount}/callbacks`,
      approvalWindowMs: 30 * 60_000,
      businessNameOf: async () => 'Kairaba Books',
    }),
  );
  // The simulator notifies of what is due at once only.
  server.addHook('onResponse', async () => hasNew.resolve());
  await server.ready();
  const act: Networks['act'] = async (sessionId, action) => {
    await simulator.act(sessionId, action);
    hasNew.resolve();
  };
  return { server, act, statements: simulator.statements, sendCallbacks };
}

/** A database whose statements take no turns and are awaited by the scheduler. */
export function awaitedDatabase(inner: Database, begin: () => () => Promise<void>): Database {
  const awaited = async <Result>(body: () => Promise<Result>): Promise<Result> => {
    const end = begin();
    try {
      return await body();
    } finally {
      void end();
    }
  };
  return {
    rows: (statement) => awaited(() => orderedRows(inner, statement)),
    row: (statement) => awaited(() => inner.row(statement)),
    run: (statement) => awaited(() => inner.run(statement)),
    withTransaction: (body, cause) => awaited(() => inner.withTransaction(body, cause)),
    dedicatedClient: () => inner.dedicatedClient(),
    get waiting() {
      return inner.waiting;
    },
    close: () => inner.close(),
  };
}
